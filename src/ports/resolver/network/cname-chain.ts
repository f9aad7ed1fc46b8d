import { canonicalName } from '../names.ts'
import { maxCnames, type RecordType } from '../port.ts'
import type { CacheableAnswer } from './cache.ts'
import { type DnsResponse, dataOf, ttlSeconds } from './wire-format.ts'

/** What a response says about a name, once its CNAMEs are followed. */
export type CnameChainResult =
  | { readonly kind: 'answered'; readonly answer: CacheableAnswer<unknown>; readonly ttlSeconds: number }
  /** The chain ends at a name that this response has no records of: look that name up next. */
  | { readonly kind: 'continues'; readonly name: string; readonly ttlSeconds: number }
  | { readonly kind: 'failed'; readonly why: string }

/**
 * How long an absence is cached of which the response does not say it. RFC 2308 §5 advises against any caching of these, because
 * two servers may pass them to each other for ever: these answers are passed to nobody. Some resolvers never send the record.
 */
const unstatedAbsenceSeconds = 5

/**
 * Reads a NOERROR or NXDOMAIN response to a query for `name`. NXDOMAIN is about the last name of the chain (RFC 6604 §3).
 * @param visited the names that the chain has been through in earlier responses, without `name`; the names that it goes
 * through here are added
 */
export function readChain(
  response: DnsResponse,
  name: string,
  type: RecordType,
  visited: Set<string>,
): CnameChainResult {
  let current = name
  let chainSeconds = Number.POSITIVE_INFINITY
  for (;;) {
    const owned = response.answers.filter(answer => canonicalName(answer.name) === current)
    const records = owned.map(answer => dataOf(answer, type)).filter(data => data !== undefined)
    if (records.length > 0) {
      const ttls = owned.filter(answer => answer.type === type).map(ttlSeconds)
      chainSeconds = Math.min(chainSeconds, ...ttls)
      const answer = { kind: 'found', records, ttlSeconds: chainSeconds } as const
      return { kind: 'answered', answer, ttlSeconds: chainSeconds }
    }
    const cname = owned.find(answer => answer.type === 'CNAME')
    const target = cname && dataOf(cname, 'CNAME')
    if (cname === undefined || target === undefined) break
    visited.add(current)
    if (visited.has(target)) return { kind: 'failed', why: `CNAME loop at ${target}` }
    if (visited.size > maxCnames) return { kind: 'failed', why: `more than ${maxCnames} CNAMEs` }
    chainSeconds = Math.min(chainSeconds, ttlSeconds(cname))
    current = target
  }
  const { negativeTtlSeconds } = response
  const absenceSeconds = Math.min(chainSeconds, negativeTtlSeconds ?? unstatedAbsenceSeconds)
  if (response.rcode === 'NXDOMAIN') return absent('nxdomain', absenceSeconds)
  if (current === name || negativeTtlSeconds !== null) return absent('nodata', absenceSeconds)
  return { kind: 'continues', name: current, ttlSeconds: chainSeconds }
}

function absent(why: 'nxdomain' | 'nodata', seconds: number): CnameChainResult {
  return { kind: 'answered', answer: { kind: 'none', why }, ttlSeconds: seconds }
}
