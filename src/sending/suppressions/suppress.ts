import type { Instant } from '../../base/clock.ts'
import { type Db, isDuplicate } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import {
  deleteSuppression,
  insertSuppression,
  insertSuppressions,
  lockSuppression,
  type SuppressionKey,
  type SuppressionReason,
  type SuppressionRow,
  selectListed,
  updateUnsubscribed,
} from './table.ts'

/** A reason for a brand not to send to an address. */
export interface NewSuppression extends SuppressionKey {
  readonly reason: SuppressionReason
  readonly expiresAt?: Instant | null
  readonly sourceEmailId?: Id<'eml'> | null
  /** The SMTP reply or the report that caused it. */
  readonly evidence?: string | null
  /** When the reason came up, where that was before now. */
  readonly createdAt?: Instant
}

/** What is on the list then; `isNew`: because of this. */
export interface SuppressResult {
  readonly row: SuppressionRow
  readonly isNew: boolean
}

const maxTries = 3

/**
 * Puts an address on a brand's list, in the caller's transaction. There is one entry for an address: one that holds stays
 * as it is, but for what {@link supersedes} it. Who unsubscribed stays so whatever other reason comes or runs out.
 */
export async function suppress(db: Db, wish: NewSuppression, now: Instant): Promise<SuppressResult> {
  for (let attempt = 1; ; attempt++)
    try {
      return await suppressOnce(db, wish, now)
    } catch (error) {
      // Another was first, and now has an entry to be seen.
      if (attempt === maxTries || !isDuplicate(error, 'suppressions_email')) throw error
    }
}

/**
 * Puts those on the lists that have no entry there at all, in one statement, in the caller's transaction; gives them.
 * @param wishes of one organization, no address twice on a list
 * @throws a duplicate on `suppressions_email` when another was first
 */
export async function suppressNew(
  db: Db,
  wishes: readonly NewSuppression[],
  now: Instant,
): Promise<ReadonlySet<NewSuppression>> {
  const [first] = wishes
  if (!first) return new Set()
  const brandIds = [...new Set(wishes.map(wish => wish.brandId))]
  const emails = wishes.map(wish => wish.email)
  const listed = await selectListed(db, first.organizationId, brandIds, emails)
  const there = new Set(listed.map(row => `${row.brand_id} ${row.email}`))
  const fresh = wishes.filter(wish => !there.has(`${wish.brandId} ${wish.email}`))
  await insertSuppressions(
    db,
    fresh.map(wish => rowOf(wish, undefined, now)),
  )
  return new Set(fresh)
}

async function suppressOnce(db: Db, wish: NewSuppression, now: Instant): Promise<SuppressResult> {
  const found = await lockSuppression(db, wish)
  const live = found && liveSuppression(found, now)
  if (live && !supersedes(wish, live)) return { row: await noteUnsubscribed(db, wish, live, now), isNew: false }
  if (found) await deleteSuppression(db, found)
  const row = rowOf(wish, live, now)
  await insertSuppression(db, row)
  return { row, isNew: true }
}

/** Does a new reason take the place of one that holds: because it keeps back more, or for longer? */
function supersedes(wish: NewSuppression, live: SuppressionRow): boolean {
  if (wish.reason === 'unsubscribe') return false
  if (live.reason === 'unsubscribe') return true
  return live.expires_at !== null && wish.reason !== 'manual'
}

async function noteUnsubscribed(
  db: Db,
  { reason }: NewSuppression,
  live: SuppressionRow,
  now: Instant,
): Promise<SuppressionRow> {
  if (reason !== 'unsubscribe' || live.reason === 'unsubscribe' || live.unsubscribed_at !== null) return live
  await updateUnsubscribed(db, live, now)
  return { ...live, unsubscribed_at: now }
}

function rowOf(wish: NewSuppression, before: SuppressionRow | undefined, now: Instant): SuppressionRow {
  const { organizationId, brandId, email, reason, expiresAt = null, sourceEmailId = null, evidence = null } = wish
  return {
    id: newId('sup'),
    organization_id: organizationId,
    brand_id: brandId,
    email,
    reason,
    source_email_id: sourceEmailId,
    evidence,
    created_at: wish.createdAt ?? now,
    expires_at: expiresAt,
    unsubscribed_at: before?.reason === 'unsubscribe' ? before.created_at : (before?.unsubscribed_at ?? null),
  }
}

/** What of an entry holds at `now`: itself, that they unsubscribed besides, or nothing any more. */
export function liveSuppression(row: SuppressionRow, now: Instant): SuppressionRow | undefined {
  if (row.expires_at === null || row.expires_at > now) return row
  const { unsubscribed_at } = row
  if (unsubscribed_at === null) return undefined
  return {
    ...row,
    reason: 'unsubscribe',
    source_email_id: null,
    evidence: null,
    created_at: unsubscribed_at,
    expires_at: null,
    unsubscribed_at: null,
  }
}
