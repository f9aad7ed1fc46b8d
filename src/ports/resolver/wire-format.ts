import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet'
import type { RecordData, RecordType } from './port.ts'

/** The UDP size that we allow (DNS Flag Day 2020): what goes past comes over TCP. */
const udpPayloadSize = 1232

/** A question as it is sent. */
export interface DnsQuery {
  readonly id: number
  readonly name: string
  readonly type: RecordType
  readonly bytes: Buffer
}

/** An answer that belongs to its question. */
export interface DnsResponse {
  readonly rcode: Rcode
  readonly truncated: boolean
  readonly answers: readonly Answer[]
  /** How long an absence may be remembered, in seconds (RFC 2308 §5); null: not at all. */
  readonly negativeTtlSeconds: number | null
  /** Only names other servers: this one does not answer for us. */
  readonly isReferral: boolean
  /** Its size, in bytes. */
  readonly size: number
}

export type Rcode = 'NOERROR' | 'NXDOMAIN' | 'FORMERR' | 'SERVFAIL' | 'NOTIMP' | 'REFUSED' | 'other'

const rcodes: readonly Rcode[] = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

/** A name as we keep and compare it: lower case, no final dot. */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}

/** Can this name exist at all (RFC 1035 §2.3.4)? What cannot is not asked for. */
export function isValidName(name: string): boolean {
  if (name === '' || Buffer.byteLength(name) > 253) return false
  for (const label of name.split('.')) {
    const bytes = Buffer.byteLength(label)
    if (bytes === 0 || bytes > 63) return false
  }
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) < 0x20) return false
  return true
}

/** A recursive question with EDNS0. */
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
 * Reads a message as the answer to `query`.
 * @returns undefined when it is not one: another id or question (RFC 5452 §4), or no response at all;
 * `unreadable` when it is, but cannot be decoded.
 */
export function decodeResponse(message: Buffer, query: DnsQuery): DnsResponse | 'unreadable' | undefined {
  if (message.length < headerBytes || message.readUInt16BE(0) !== query.id) return undefined
  const flags = message.readUInt16BE(2)
  const rcode = rcodes[flags & 0xf] ?? 'other'
  if ((flags & 0x8000) === 0) return undefined
  const questions = message.readUInt16BE(4)
  // Some servers leave the question out of an error; that claims nothing, so it may be believed.
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

/** The name, type and class in the question section, byte for byte but for the case of letters. */
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

/** What a record holds, in the port's form; undefined when it is of another type. */
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
