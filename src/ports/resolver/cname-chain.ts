import type { CacheableAnswer } from './cache.ts'
import type { RecordType } from './port.ts'
import { canonicalName, type DnsResponse, dataOf, ttlSeconds } from './wire-format.ts'

/** CNAMEs that are followed for one question. */
export const maxChain = 8

/** What a response says about a name, once its CNAMEs are followed. */
export type CnameChainResult =
  | { readonly kind: 'says'; readonly answer: CacheableAnswer<unknown>; readonly keepSeconds: number }
  /** The chain leads out of this response: ask for its last name. */
  | { readonly kind: 'leads-to'; readonly name: string; readonly ttlSeconds: number }
  | { readonly kind: 'failed'; readonly why: string }

/**
 * Reads a NOERROR or NXDOMAIN response to a question for `name`.
 * `passed` holds the names that the chain has been through, `name` not among them; those that it goes through here are
 * added. NXDOMAIN speaks of the chain's last name (RFC 6604 §3).
 */
export function readChain(
  response: DnsResponse,
  name: string,
  type: RecordType,
  passed: Set<string>,
): CnameChainResult {
  let here = name
  let keepSeconds = Number.POSITIVE_INFINITY
  for (;;) {
    const owned = response.answers.filter(answer => canonicalName(answer.name) === here)
    const records = owned.map(answer => dataOf(answer, type)).filter(each => each !== undefined)
    if (records.length > 0) {
      const ttls = owned.filter(answer => answer.type === type).map(ttlSeconds)
      keepSeconds = Math.min(keepSeconds, ...ttls)
      return { kind: 'says', answer: { kind: 'found', records, ttlSeconds: keepSeconds }, keepSeconds }
    }
    const alias = owned.find(answer => answer.type === 'CNAME')
    const target = alias && dataOf(alias, 'CNAME')
    if (alias === undefined || target === undefined) break
    passed.add(here)
    if (passed.has(target)) return { kind: 'failed', why: `CNAME loop at ${target}` }
    if (passed.size > maxChain) return { kind: 'failed', why: `more than ${maxChain} CNAMEs` }
    keepSeconds = Math.min(keepSeconds, ttlSeconds(alias))
    here = target
  }
  const { negativeTtlSeconds } = response
  if (response.rcode === 'NXDOMAIN') return absent('nxdomain', Math.min(keepSeconds, negativeTtlSeconds ?? 0))
  if (here === name || negativeTtlSeconds !== null)
    return absent('nodata', Math.min(keepSeconds, negativeTtlSeconds ?? 0))
  return { kind: 'leads-to', name: here, ttlSeconds: keepSeconds }
}

function absent(why: 'nxdomain' | 'nodata', keepSeconds: number): CnameChainResult {
  return { kind: 'says', answer: { kind: 'none', why }, keepSeconds }
}
