import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { canonicalName } from '../names.ts'
import type { RecordData, RecordType } from '../port.ts'

/** The largest UDP response that we ask for (DNS Flag Day 2020); what is larger comes over TCP. */
const udpPayloadSize = 1232

/** A query, and its bytes as they are sent. */
export interface DnsQuery {
  readonly id: number
  readonly name: string
  readonly type: RecordType
  readonly bytes: Buffer
}

/** A response that belongs to its query. */
export interface DnsResponse {
  readonly rcode: Rcode
  readonly truncated: boolean
  readonly answers: readonly Answer[]
  /** How long an absence may be cached, in seconds: from the SOA record (RFC 2308 §5); null: there is none. */
  readonly negativeTtlSeconds: number | null
  /** Does it only name other servers? Then this server does no recursion for us. */
  readonly isReferral: boolean
  /** In bytes, as it came over the wire. */
  readonly size: number
}

export type Rcode = 'NOERROR' | 'NXDOMAIN' | 'FORMERR' | 'SERVFAIL' | 'NOTIMP' | 'REFUSED' | 'other'

const rcodes: readonly Rcode[] = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

/** A recursive query with EDNS0 (RFC 6891). */
export function encodeQuery(id: number, name: string, type: RecordType): DnsQuery {
  const bytes = encode({
    type: 'query',
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type, class: 'IN' }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
  return { id, name, type, bytes }
}

const headerBytes = 12

/**
 * Reads a message as the response to `query`.
 * @returns undefined when it is not one: another id, another question (RFC 5452 §4), or not a response;
 * `unreadable` when it is, but cannot be decoded.
 */
export function decodeResponse(message: Buffer, query: DnsQuery): DnsResponse | 'unreadable' | undefined {
  if (message.length < headerBytes || message.readUInt16BE(0) !== query.id) return undefined
  const flags = message.readUInt16BE(2)
  const rcode = rcodes[flags & 0xf] ?? 'other'
  if ((flags & 0x8000) === 0) return undefined
  const questions = message.readUInt16BE(4)
  // Some servers omit the question from an error. An error says nothing about the name, so it is accepted.
  const isBareError = questions === 0 && rcode !== 'NOERROR' && rcode !== 'NXDOMAIN'
  if (!isBareError && (questions !== 1 || !hasSameQuestion(message, query.bytes))) return undefined
  const truncated = (flags & 0x0200) !== 0
  const size = message.length
  if (truncated || isBareError)
    return { rcode, truncated, answers: [], negativeTtlSeconds: null, isReferral: false, size }
  try {
    const { answers = [], authorities = [] } = decode(message)
    const absence = absenceSeconds(authorities)
    const isReferral =
      answers.length === 0 && absence === null && authorities.some(authority => authority.type === 'NS')
    return { rcode, truncated, answers, negativeTtlSeconds: absence, isReferral, size }
  } catch {
    return 'unreadable'
  }
}

/** The name, type and class in the question section, byte for byte except for the case of letters. */
function hasSameQuestion(message: Buffer, query: Buffer): boolean {
  let end = headerBytes
  while (query[end] !== 0) end += 1 + (query[end] ?? 0)
  end += 5
  if (message.length < end) return false
  for (let i = headerBytes; i < end; i++) if (lowerCase(message[i]) !== lowerCase(query[i])) return false
  return true
}

function lowerCase(byte = 0): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
}

function absenceSeconds(authorities: readonly Answer[]): number | null {
  for (const authority of authorities)
    if (authority.type === 'SOA') return Math.min(ttlSeconds(authority), authority.data.minimum ?? 0)
  return null
}

/** A record's TTL in seconds; one with its highest bit set counts as zero (RFC 2181 §8). */
export function ttlSeconds(record: Answer): number {
  const ttl = 'ttl' in record ? (record.ttl ?? 0) : 0
  return ttl > 0x7fffffff ? 0 : ttl
}

/** A record's data in the port's form; undefined when it is of another type, or cannot be read. */
export function dataOf<Type extends RecordType>(record: Answer, type: Type): RecordData[Type] | undefined {
  return record.type === type ? (readData(record) as RecordData[Type] | undefined) : undefined
}

function readData(record: Answer): RecordData[RecordType] | undefined {
  switch (record.type) {
    case 'TXT': {
      const strings = Array.isArray(record.data) ? record.data : [record.data]
      return Buffer.concat(strings.map(each => Buffer.from(each))).toString()
    }
    case 'MX':
      return { priority: record.data.preference ?? 0, exchange: canonicalName(record.data.exchange) }
    case 'CNAME':
    case 'PTR':
      return canonicalName(record.data)
    case 'A':
    case 'AAAA':
      return record.data
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = record.data
      return { usage, selector, matchingType, certificate: Buffer.from(certificate) }
    }
    default:
      return undefined
  }
}
