import type { DnsAnswer, RecordData, Resolver } from '../../ports/resolver/port.ts'
import type { ExpectedRecord, RecordStatus } from './records.ts'
import { checkSpfCoverage, isSpf } from './spf.ts'

/** What DNS shows of one expected record. */
export interface RecordCheck {
  readonly status: RecordStatus
  /** The values at that name that concern this record, their number and length limited. */
  readonly found: readonly string[]
  /** Why the look-up failed; only with `unknown`. */
  readonly failure?: string
  /** What is wrong, in a sentence, if `found` does not show it; with `mismatch`, or with `verified` if that does no harm. */
  readonly detail?: string
}

type RecordAnswer = DnsAnswer<RecordData['TXT'] | RecordData['MX'] | RecordData['CNAME']>

const maxFound = 10
const maxFoundLength = 600

/** Looks the record up, past every cache, and compares it by its meaning. */
export async function checkRecord(resolver: Resolver, record: ExpectedRecord): Promise<RecordCheck> {
  const answer = await resolver.resolve(record.name, record.type, { forProof: true })
  return answer.kind === 'found'
    ? compareRecord(resolver, record, answer.records.map(toValue))
    : evaluateAnswer(record, answer)
}

/** As {@link evaluateValues}, but SPF records are evaluated too, for which others are looked up. */
export async function compareRecord(
  resolver: Resolver,
  record: ExpectedRecord,
  values: readonly string[],
): Promise<RecordCheck> {
  const check = evaluateValues(record, values)
  const [first, ...others] = values.filter(isSpf)
  if (!isSpfRecord(record) || first === undefined) return check
  const coverage = await checkSpfCoverage(resolver, {
    name: record.name,
    records: [first, ...others],
    ours: record.value,
  })
  const { found } = check
  switch (coverage.kind) {
    case 'covers':
      return { status: 'verified', found, ...(coverage.detail !== undefined && { detail: coverage.detail }) }
    case 'wrong':
      return { status: 'mismatch', found, detail: coverage.detail }
    case 'unknown':
      return { status: 'unknown', found, failure: coverage.failure }
    default:
      return coverage satisfies never
  }
}

/** Is it the SPF record of the domain or of its return path? */
function isSpfRecord({ purpose, type }: ExpectedRecord): boolean {
  return purpose === 'spf' || (purpose === 'return_path' && type === 'TXT')
}

/** What a DNS answer shows of a record. Pure. */
export function evaluateAnswer(record: ExpectedRecord, answer: RecordAnswer): RecordCheck {
  switch (answer.kind) {
    case 'failed':
      return { status: 'unknown', found: [], failure: answer.why }
    case 'none':
      return { status: 'pending', found: [] }
    case 'found':
      return evaluateValues(record, answer.records.map(toValue))
    default:
      return answer satisfies never
  }
}

/**
 * What the values at a record's name show of it. MX values are `priority exchange`. Of SPF records only that there are some,
 * see {@link compareRecord}. Pure.
 */
export function evaluateValues(record: ExpectedRecord, values: readonly string[]): RecordCheck {
  const relevant = values.filter(value => concerns(record, value))
  if (relevant.length === 0) return { status: 'pending', found: [] }
  const found = relevant.slice(0, maxFound).map(value => value.slice(0, maxFoundLength))
  return { status: matches(record, relevant) ? 'verified' : 'mismatch', found }
}

function toValue(found: RecordData['TXT'] | RecordData['MX'] | RecordData['CNAME']): string {
  return typeof found === 'string' ? found : `${found.priority} ${found.exchange}`
}

/** Does a value at the record's name concern it? A name may have unrelated TXT records. */
function concerns({ purpose, type }: ExpectedRecord, value: string): boolean {
  switch (purpose) {
    case 'spf':
      return isSpf(value)
    case 'dmarc':
      return isDmarc(value)
    case 'return_path':
      return type !== 'TXT' || isSpf(value)
    case 'ownership':
    case 'dkim':
    case 'receiving_identity':
    case 'mx':
      return true
    default:
      return purpose satisfies never
  }
}

function matches(record: ExpectedRecord, values: readonly string[]): boolean {
  const [first = ''] = values
  switch (record.purpose) {
    case 'ownership':
      // Several organizations' values may exist side by side.
      return values.some(value => value.trim() === record.value)
    case 'dkim':
      if (record.type === 'CNAME') return values.length === 1 && sameName(first, record.value)
      return values.length === 1 && publicKeyOf(first) === publicKeyOf(record.value)
    case 'spf':
      return true
    case 'dmarc':
      return values.length === 1 && hasPolicy(first)
    case 'receiving_identity':
      return values.length === 1 && sameName(first, record.value)
    case 'return_path':
    case 'mx':
      if (record.type === 'TXT') return true
      return values.some(value => sameName(value.split(' ')[1] ?? '', record.value))
    default:
      return record.purpose satisfies never
  }
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase().replace(/\.$/, '') === other.toLowerCase().replace(/\.$/, '')
}

/** A tag of a tag list (RFC 6376 §3.2), without white space, which base64 values may contain. */
function tagOf(value: string, tag: string): string | undefined {
  for (const part of value.split(';')) {
    const [name = '', ...rest] = part.split('=')
    if (name.trim() === tag) return rest.join('=').replace(/\s+/g, '')
  }
  return undefined
}

/** The value of p=, empty for a revoked key (RFC 6376 §3.6.1). */
function publicKeyOf(value: string): string | undefined {
  const version = tagOf(value, 'v')
  return version === undefined || version === 'DKIM1' ? tagOf(value, 'p') : undefined
}

/** RFC 9989 §4.8: the version comes first, in upper case. */
function isDmarc(value: string): boolean {
  return /^\s*v\s*=\s*DMARC1\s*(?:;|$)/.test(value)
}

function hasPolicy(value: string): boolean {
  const policy = tagOf(value, 'p')?.toLowerCase()
  return policy === 'none' || policy === 'quarantine' || policy === 'reject'
}
