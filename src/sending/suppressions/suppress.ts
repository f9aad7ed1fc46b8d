import type { Instant } from '../../base/clock.ts'
import { type Db, isDuplicate } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import { appendEvents } from '../../events/append-events.ts'
import { suppressionEvent } from './suppression-event.ts'
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

/** A suppression to be added: a brand is not to send to an address. */
export interface NewSuppression extends SuppressionKey {
  readonly reason: SuppressionReason
  readonly expiresAt?: Instant | null
  readonly sourceEmailId?: Id<'eml'> | null
  /** The SMTP reply or the report that caused it. */
  readonly evidence?: string | null
  /** When it began; now, unless given. */
  readonly createdAt?: Instant
}

/** What is on the list afterwards; `isNew` false: nothing changed. */
export interface SuppressResult {
  readonly row: SuppressionRow
  readonly isNew: boolean
}

const maxTries = 3

/**
 * Suppresses an address for a brand, in the caller's transaction. An address has one entry: a live one stays as it is unless
 * the new reason {@link supersedes} it. Who has unsubscribed stays unsubscribed, whatever other reason is added or expires.
 */
export async function suppress(db: Db, suppression: NewSuppression, now: Instant): Promise<SuppressResult> {
  for (let attempt = 1; ; attempt++)
    try {
      return await suppressOnce(db, suppression, now)
    } catch (error) {
      // Another transaction was first, and its entry can be seen now.
      if (attempt === maxTries || !isDuplicate(error, 'suppressions_email')) throw error
    }
}

/**
 * Inserts those that have no entry at all, in one statement, in the caller's transaction; gives them.
 * @param suppressions of one organization, no address twice for a brand
 * @throws a duplicate on `suppressions_email` when another transaction was first
 */
export async function suppressNew(
  db: Db,
  suppressions: readonly NewSuppression[],
  now: Instant,
): Promise<ReadonlySet<NewSuppression>> {
  const [first] = suppressions
  if (!first) return new Set()
  const brandIds = [...new Set(suppressions.map(suppression => suppression.brandId))]
  const emails = suppressions.map(suppression => suppression.email)
  const listed = await selectListed(db, first.organizationId, brandIds, emails)
  const existing = new Set(listed.map(row => `${row.brand_id} ${row.email}`))
  const added = suppressions.filter(({ brandId, email }) => !existing.has(`${brandId} ${email}`))
  const rows = added.map(suppression => rowOf(suppression, undefined, now))
  await insertSuppressions(db, rows)
  await appendEvents(
    db,
    rows.map(row => suppressionEvent('suppression.created', row, now)),
  )
  return new Set(added)
}

async function suppressOnce(db: Db, suppression: NewSuppression, now: Instant): Promise<SuppressResult> {
  const found = await lockSuppression(db, suppression)
  const live = found && liveSuppression(found, now)
  if (live && !supersedes(suppression, live))
    return { row: await recordUnsubscribed(db, suppression, live, now), isNew: false }
  if (found) await deleteSuppression(db, found)
  const row = rowOf(suppression, live, now)
  await insertSuppression(db, row)
  await appendEvents(db, [suppressionEvent('suppression.created', row, now)])
  return { row, isNew: true }
}

/** Does a new suppression replace a live one, because it suppresses more, or for longer? */
function supersedes(suppression: NewSuppression, live: SuppressionRow): boolean {
  if (suppression.reason === 'unsubscribe') return false
  if (live.reason === 'unsubscribe') return true
  return live.expires_at !== null && suppression.reason !== 'manual'
}

async function recordUnsubscribed(
  db: Db,
  { reason }: NewSuppression,
  live: SuppressionRow,
  now: Instant,
): Promise<SuppressionRow> {
  if (reason !== 'unsubscribe' || live.reason === 'unsubscribe' || live.unsubscribed_at !== null) return live
  await updateUnsubscribed(db, live, now)
  return { ...live, unsubscribed_at: now }
}

function rowOf(suppression: NewSuppression, before: SuppressionRow | undefined, now: Instant): SuppressionRow {
  const {
    organizationId,
    brandId,
    email,
    reason,
    expiresAt = null,
    sourceEmailId = null,
    evidence = null,
  } = suppression
  return {
    id: newId('sup'),
    organization_id: organizationId,
    brand_id: brandId,
    email,
    reason,
    source_email_id: sourceEmailId,
    evidence,
    created_at: suppression.createdAt ?? now,
    expires_at: expiresAt,
    unsubscribed_at: before?.reason === 'unsubscribe' ? before.created_at : (before?.unsubscribed_at ?? null),
  }
}

/** What is live of an entry at `now`: the entry, only that the recipient unsubscribed besides, or undefined. */
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
