import type { Keepable } from './cache.ts'
import type { RecordType } from './port.ts'
import { canonicalName, dataOf, type Response, ttlSeconds } from './wire-format.ts'

/** CNAMEs that are followed for one question. */
export const maxChain = 8

/** What a response says about a name, once its CNAMEs are followed. */
export type Read =
  | { readonly kind: 'says'; readonly answer: Keepable<unknown>; readonly keepSeconds: number }
  /** The chain leads out of this response: ask for its last name. */
  | { readonly kind: 'leads-to'; readonly name: string; readonly ttlSeconds: number }
  | { readonly kind: 'failed'; readonly why: string }

/**
 * Reads a NOERROR or NXDOMAIN response to a question for `name`.
 * `passed` holds the names that the chain has been through, `name` not among them; those that it goes through here are
 * added. NXDOMAIN speaks of the chain's last name (RFC 6604 §3).
 */
export function readChain(response: Response, name: string, type: RecordType, passed: Set<string>): Read {
  let here = name
  let keepSeconds = Number.POSITIVE_INFINITY
  for (;;) {
    const owned = response.answers.filter(each => canonicalName(each.name) === here)
    const records = owned.map(each => dataOf(each, type)).filter(each => each !== undefined)
    if (records.length > 0) {
      const ttls = owned.filter(each => each.type === type).map(ttlSeconds)
      keepSeconds = Math.min(keepSeconds, ...ttls)
      return { kind: 'says', answer: { kind: 'found', records, ttlSeconds: keepSeconds }, keepSeconds }
    }
    const alias = owned.find(each => each.type === 'CNAME')
    const target = alias && dataOf(alias, 'CNAME')
    if (alias === undefined || target === undefined) break
    passed.add(here)
    if (passed.has(target)) return { kind: 'failed', why: `CNAME loop at ${target}` }
    if (passed.size > maxChain) return { kind: 'failed', why: `more than ${maxChain} CNAMEs` }
    keepSeconds = Math.min(keepSeconds, ttlSeconds(alias))
    here = target
  }
  const { absenceSeconds } = response
  if (response.rcode === 'NXDOMAIN') return absent('nxdomain', Math.min(keepSeconds, absenceSeconds ?? 0))
  if (here === name || absenceSeconds !== null) return absent('nodata', Math.min(keepSeconds, absenceSeconds ?? 0))
  return { kind: 'leads-to', name: here, ttlSeconds: keepSeconds }
}

function absent(why: 'nxdomain' | 'nodata', keepSeconds: number): Read {
  return { kind: 'says', answer: { kind: 'none', why }, keepSeconds }
}
