import { brandIdRefusals, loadBrand, resolveBrandId } from '../../accounts/brands/brands.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { cutPage, pageSize, readIdCursor, readInstant } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { appendEvents } from '../../events/append-events.ts'
import { readAddress } from '../accept/recipients.ts'
import { type SuppressionJson, toJsonSuppression } from './schema.ts'
import { liveSuppression, suppress } from './suppress.ts'
import { suppressionEvent } from './suppression-event.ts'
import {
  deleteSuppression,
  deleteSuppressions,
  lockExpired,
  lockSuppression,
  type SuppressionKey,
  type SuppressionReason,
  selectSuppression,
  selectSuppressions,
  updateExpiredToUnsubscribed,
} from './table.ts'

export interface SuppressionsDeps {
  readonly db: Db
  readonly clock: Clock
}

/** The query parameters of a list of suppressions. */
export interface SuppressionListQuery {
  readonly limit?: string
  readonly cursor?: string
  readonly brand_id?: string
  readonly reason?: SuppressionReason
}

/** A page of suppressions, newest first. @throws Refusal `invalid_cursor`; for `brand_id` `not_found`, `brand_restricted` */
export async function listSuppressions(
  { db, clock }: SuppressionsDeps,
  tenant: Tenant,
  query: SuppressionListQuery,
): Promise<{ data: SuppressionJson[]; next_cursor: string | null }> {
  const brandId =
    query.brand_id === undefined ? tenant.brandId : (await loadBrand(db, tenant, query.brand_id, 'brand_id')).id
  const filter = { organizationId: tenant.organizationId, brandId, reason: query.reason ?? null }
  const limit = pageSize(query.limit)
  const now = clock.now()
  const after = readIdCursor('sup', query.cursor)
  const rows = await selectSuppressions(db, filter, { after, limit: limit + 1, now })
  const { page, next_cursor } = cutPage(rows, limit, ({ id }) => [id])
  return { data: page.flatMap(row => liveSuppression(row, now) ?? []).map(toJsonSuppression), next_cursor }
}

/**
 * Suppresses an address for a brand; `isNew` false: it was suppressed already, and nothing changed.
 * @throws Refusal `invalid_request` (not an address, or an end in the past), `brand_required`, `not_found` and
 * `brand_restricted` for `brand_id`
 */
export async function createSuppression(
  { db, clock }: SuppressionsDeps,
  tenant: Tenant,
  body: { readonly email: string; readonly brand_id?: string | undefined; readonly expires_at?: string | undefined },
  reservation?: Reservation,
): Promise<{ readonly body: SuppressionJson; readonly isNew: boolean }> {
  const email = readEmail(body.email)
  const expiresAt = readEnd(body.expires_at, clock.now())
  const brandId = await resolveBrandId(db, tenant, body.brand_id)
  return inTransaction(db, async tx => {
    const at = clock.now()
    const key = { organizationId: tenant.organizationId, brandId, email }
    const { row, isNew } = await suppress(tx, { ...key, reason: 'manual', expiresAt }, at)
    const response = toJsonSuppression(row)
    await storeResponse(tx, reservation, { status: isNew ? 201 : 200, body: response })
    return { body: response, isNew }
  })
}

/** The refusals of {@link removeSuppression}. */
export const removeSuppressionRefusals = [...brandIdRefusals, 'not_found'] as const

/** Removes a suppression. @throws Refusal `not_found`, and those of {@link readKey} */
export async function removeSuppression(
  { db, clock }: SuppressionsDeps,
  tenant: Tenant,
  path: { readonly email: string; readonly brandId: string | undefined },
  reservation?: Reservation,
): Promise<{ email: string; deleted: true }> {
  const key = await readKey(db, tenant, path)
  return inTransaction(db, async tx => {
    const at = clock.now()
    const row = await lockSuppression(tx, key)
    if (!row || !liveSuppression(row, at))
      throw refuse('not_found', { message: `${key.email} is not on the suppression list of ${key.brandId}.` })
    await deleteSuppression(tx, row)
    await appendEvents(tx, [suppressionEvent('suppression.deleted', row, at)])
    const body = { email: key.email, deleted: true } as const
    await storeResponse(tx, reservation, { status: 200, body })
    return body
  })
}

/** Whether an address is suppressed, and why. @throws Refusal those of {@link readKey} */
export async function checkSuppression(
  { db, clock }: SuppressionsDeps,
  tenant: Tenant,
  query: { readonly email: string; readonly brandId: string | undefined },
): Promise<{ email: string; suppressed: boolean; suppression: SuppressionJson | null }> {
  const key = await readKey(db, tenant, query)
  const row = await selectSuppression(db, key)
  const live = row && liveSuppression(row, clock.now())
  return { email: key.email, suppressed: live !== undefined, suppression: live ? toJsonSuppression(live) : null }
}

/** Deletes expired suppressions, at most `limit`; gives how many. A background job. */
export async function expireSuppressions({ db, clock }: SuppressionsDeps, limit: number): Promise<number> {
  const now = clock.now()
  await updateExpiredToUnsubscribed(db, now, limit)
  return inTransaction(db, async tx => {
    const expired = await lockExpired(tx, now, limit)
    await deleteSuppressions(tx, expired)
    await appendEvents(
      tx,
      expired.map(row => suppressionEvent('suppression.deleted', row, now)),
    )
    return expired.length
  })
}

/** @throws Refusal `invalid_request`, `brand_required`, and for `brand_id` `not_found`, `brand_restricted` */
async function readKey(
  db: Db,
  tenant: Tenant,
  { email, brandId }: { readonly email: string; readonly brandId: string | undefined },
): Promise<SuppressionKey> {
  const address = readEmail(email)
  return { organizationId: tenant.organizationId, brandId: await resolveBrandId(db, tenant, brandId), email: address }
}

/** Addresses compare without case. */
function readEmail(text: string): string {
  return readAddress(text, 'email').address.toLowerCase()
}

function readEnd(text: string | undefined, now: Instant): Instant | null {
  if (text === undefined) return null
  const at = readInstant(text, 'expires_at')
  if (at > now) return at
  throw refuse('invalid_request', { message: `\`expires_at\` is ${text}, which is in the past.`, param: 'expires_at' })
}
