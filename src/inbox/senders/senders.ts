import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { canonicalDomain, parseAddress } from '../../mail/address.ts'
import {
  countEntries,
  deleteEntries,
  insertNewEntries,
  type SenderListing,
  type SenderListingRow,
  selectListings,
  turnEntries,
} from './table.ts'

/** The most entries that an organization may have. */
const maxEntries = 10_000

/** A subdomain of so many levels is found by none of the domains above. */
const maxLevels = 8

/** An entry in its canonical form: an address in lower case, or a domain; undefined: it is neither. */
export function readEntry(text: string): string | undefined {
  const trimmed = text.trim().replace(/^@/, '')
  if (!trimmed.includes('@')) return canonicalDomain(trimmed)
  const parsed = parseAddress(trimmed)
  return parsed?.name === '' && !trimmed.endsWith('>') ? parsed.address.toLowerCase() : undefined
}

/** Whom a message says it is from, and its reverse-path; empty: nobody. */
export interface MessageSenders {
  readonly from: string
  readonly mailFrom: string
}

/**
 * How organizations list the sender of a message; those that do not are absent. The address in From counts, which is the one
 * that is authenticated; where it is not listed, a blocked reverse-path. An address goes before its domain, and a domain, which
 * stands for its subdomains too, before the domains above it.
 */
export async function findSenderListings(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  { from, mailFrom }: MessageSenders,
): Promise<ReadonlyMap<Id<'org'>, SenderListing>> {
  const [fromEntries, mailFromEntries] = [entriesFor(from), entriesFor(mailFrom)]
  const rows = await selectListings(db, organizationIds, [...new Set([...fromEntries, ...mailFromEntries])])
  const found = new Map<Id<'org'>, SenderListing>()
  for (const [organizationId, own] of Map.groupBy(rows, row => row.organization_id)) {
    const byEntry = new Map(own.map(({ entry, listing }) => [entry, listing]))
    const nearest = (entries: readonly string[]) => entries.map(entry => byEntry.get(entry)).find(listing => listing)
    const listing = nearest(fromEntries) ?? (nearest(mailFromEntries) === 'block' ? 'block' : undefined)
    if (listing) found.set(organizationId, listing)
  }
  return found
}

/** The entries that list an address, the nearest first. */
function entriesFor(address: string): readonly string[] {
  const at = address.lastIndexOf('@')
  const domain = canonicalDomain(address.slice(at + 1))
  if (at < 1 || domain === undefined) return []
  const labels = domain.split('.').slice(-maxLevels)
  const domains = labels.slice(0, -1).map((_, level) => labels.slice(level).join('.'))
  return [`${address.slice(0, at).toLowerCase()}@${domain}`, ...new Set([domain, ...domains])]
}

export interface ListedSenders {
  readonly kind: 'listed'
  /** Those for which it is new, in the order they were given. */
  readonly changed: readonly string[]
  /** Those that were listed otherwise, as they were. */
  readonly turned: readonly SenderListingRow[]
}

/** The organization may list so many. */
export interface TooManyEntries {
  readonly kind: 'too_many'
  readonly most: number
}

/**
 * Allows or blocks senders: canonical entries, each once. What was listed otherwise is listed so from now on, and is given as
 * it was, since somebody else may have listed it. Lists none of them where the organization might then have more than
 * {@link maxEntries}.
 */
export async function listSenders(
  db: Db,
  clock: Clock,
  organizationId: Id<'org'>,
  { entries, listing }: { readonly entries: readonly string[]; readonly listing: SenderListing },
): Promise<ListedSenders | TooManyEntries> {
  if ((await countEntries(db, organizationId, maxEntries)) + entries.length > maxEntries)
    return { kind: 'too_many', most: maxEntries }
  const created_at = clock.now()
  const rows = entries.map(entry => ({ organization_id: organizationId, entry, listing, created_at }))
  const added = await insertNewEntries(db, rows)
  const turned = await turnEntries(db, organizationId, entries, { listing, since: created_at })
  const changed = new Set([...added, ...turned].map(row => row.entry))
  return { kind: 'listed', changed: entries.filter(entry => changed.has(entry)), turned }
}

/** Removes entries, and gives those that there were. */
export function unlistSenders(
  db: Db,
  organizationId: Id<'org'>,
  entries: readonly string[],
): Promise<readonly string[]> {
  return deleteEntries(db, organizationId, entries)
}
