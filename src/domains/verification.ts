import type { Answer, RecordData, Resolver } from '../ports/resolver/port.ts'
import type { PublishedRecord, RecordStatus } from './records.ts'

/** What DNS says of one record. */
export interface Judgement {
  readonly status: RecordStatus
  /** What stands there instead, or as well: only values that bear on this record, cut to a bounded size. */
  readonly found: readonly string[]
  /** Why DNS did not answer; only with `unknown`. */
  readonly failure?: string
}

type Found = Answer<RecordData['TXT'] | RecordData['MX'] | RecordData['CNAME']>

const maxFound = 10
const maxFoundLength = 600

/** Looks each record up, past every cache, and compares it by its meaning. */
export async function look(resolver: Resolver, record: PublishedRecord): Promise<Judgement> {
  return judge(record, await resolver.resolve(record.name, record.type, { forProof: true }))
}

/** What an answer says of a record. Pure. */
export function judge(record: PublishedRecord, answer: Found): Judgement {
  switch (answer.kind) {
    case 'failed':
      return { status: 'unknown', found: [], failure: answer.why }
    case 'none':
      return { status: 'pending', found: [] }
    case 'found':
      return judgeValues(record, answer.records.map(toValue))
    default:
      return answer satisfies never
  }
}

/** What the values that stand at a record's name say of it. MX values are `priority exchange`. Pure. */
export function judgeValues(record: PublishedRecord, values: readonly string[]): Judgement {
  const relevant = values.filter(value => bearsOn(record, value))
  if (relevant.length === 0) return { status: 'pending', found: [] }
  return {
    status: holds(record, relevant) ? 'verified' : 'mismatch',
    found: relevant.slice(0, maxFound).map(value => value.slice(0, maxFoundLength)),
  }
}

function toValue(found: RecordData['TXT'] | RecordData['MX'] | RecordData['CNAME']): string {
  return typeof found === 'string' ? found : `${found.priority} ${found.exchange}`
}

/** A name may hold TXT records that have nothing to do with ours. */
function bearsOn({ purpose }: PublishedRecord, value: string): boolean {
  switch (purpose) {
    case 'spf':
      return isSpf(value)
    case 'dmarc':
      return isDmarc(value)
    case 'ownership':
    case 'dkim':
    case 'return_path':
    case 'receiving_identity':
    case 'mx':
      return true
    default:
      return purpose satisfies never
  }
}

function holds(record: PublishedRecord, values: readonly string[]): boolean {
  const [first = ''] = values
  switch (record.purpose) {
    case 'ownership':
      // Several organizations' values may stand side by side.
      return values.some(value => value.trim() === record.value)
    case 'dkim':
      return values.length === 1 && publicKeyOf(first) === publicKeyOf(record.value)
    case 'spf':
      return (
        values.length === 1 &&
        (!record.required || includesOf(record.value).every(name => includesOf(first).includes(name)))
      )
    case 'dmarc':
      return values.length === 1 && hasPolicy(first)
    case 'receiving_identity':
    case 'return_path':
      return values.length === 1 && sameName(first, record.value)
    case 'mx':
      return values.some(value => sameName(value.split(' ')[1] ?? '', record.value))
    default:
      return record.purpose satisfies never
  }
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase().replace(/\.$/, '') === other.toLowerCase().replace(/\.$/, '')
}

/** RFC 6376 §3.2: a list of tags; spaces mean nothing inside a base64 value. */
function tagOf(value: string, tag: string): string | undefined {
  for (const part of value.split(';')) {
    const [name = '', ...rest] = part.split('=')
    if (name.trim() === tag) return rest.join('=').replace(/\s+/g, '')
  }
  return undefined
}

/** An empty p= is a revoked key, RFC 6376 §3.6.1. */
function publicKeyOf(value: string): string | undefined {
  const version = tagOf(value, 'v')
  return version === undefined || version === 'DKIM1' ? tagOf(value, 'p') : undefined
}

/** RFC 7208 §4.5: the version and then a space or the end. */
function isSpf(value: string): boolean {
  return /^v=spf1(?: |$)/i.test(value)
}

function includesOf(spf: string): readonly string[] {
  return spf
    .split(/ +/)
    .map(term => /^\+?include:(.+)$/i.exec(term)?.[1]?.toLowerCase().replace(/\.$/, ''))
    .filter(name => name !== undefined)
}

/** RFC 9989 §4.8: the version comes first, in upper case. */
function isDmarc(value: string): boolean {
  return /^\s*v\s*=\s*DMARC1\s*(?:;|$)/.test(value)
}

function hasPolicy(value: string): boolean {
  const policy = tagOf(value, 'p')?.toLowerCase()
  return policy === 'none' || policy === 'quarantine' || policy === 'reject'
}
