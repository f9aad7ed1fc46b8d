import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { isConnectionLost } from '../../base/database/database-errors.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import type { JsonResponse } from '../request-context.ts'
import { leaseMs, type Reservation, responseRetentionMs } from './reservation.ts'
import {
  type IdempotencyKeyRef,
  type IdempotencyRow,
  insertIdempotencyKeys,
  selectIdempotencyKeys,
  updateIdempotencyKey,
  updateLeases,
} from './table.ts'

/** A request that wants to reserve its Idempotency-Key. */
export interface ReservationRequest {
  readonly organizationId: Id<'org'>
  readonly key: string
  /** See {@link fingerprintOf}. */
  readonly fingerprint: Buffer
}

/**
 * `reserved`: the request may do its work. `completed`: the same request was done, with this response. `in-progress`: it is
 * being worked on. `reused`: another request had this key.
 */
export type ReservationResult =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | { readonly kind: 'completed'; readonly response: JsonResponse }
  | { readonly kind: 'in-progress' }
  | { readonly kind: 'reused' }

/**
 * Reserves the keys of these requests, one result for each in their order. The statements commit before the work starts. A
 * key whose lease ran out, or whose response is older than 24 hours, goes to the new request.
 * @param onUnknown called for each reservation that the database may have made, when the connection to it was lost
 */
export async function reserveKeys(
  db: Db,
  requests: readonly ReservationRequest[],
  clock: Clock,
  onUnknown: (reservation: Reservation) => void = () => undefined,
): Promise<readonly ReservationResult[]> {
  const now = clock.now()
  // Selected first: an insert would wait for whoever is storing a response, and this whole batch with it.
  const existing = rowsByKey(await selectIdempotencyKeys(db, requests.map(refOf)))
  const fresh = new Map<string, IdempotencyRow>()
  for (const request of requests) {
    const key = mapKeyOf(refOf(request))
    if (!existing.has(key) && !fresh.has(key)) fresh.set(key, newRow(request, now))
  }
  const inserted = await insertFresh(db, fresh).catch((error: unknown) => {
    if (isConnectionLost(error)) for (const row of fresh.values()) onUnknown(reservationOf(row))
    throw error
  })
  const reserved = new Set<string>()
  return Promise.all(
    requests.map(async (request): Promise<ReservationResult> => {
      const key = mapKeyOf(refOf(request))
      const row = existing.get(key) ?? inserted.get(key)
      // Its holder released it meanwhile.
      if (!row) return { kind: 'in-progress' }
      if (row.token !== fresh.get(key)?.token || reserved.has(key)) return reserveExisting(db, request, row, now)
      reserved.add(key)
      return reservedBy(row)
    }),
  )
}

/** Inserts rows, and gives the rows of their keys as they are then: another process may have inserted some first. */
async function insertFresh(
  db: Db,
  fresh: ReadonlyMap<string, IdempotencyRow>,
): Promise<ReadonlyMap<string, IdempotencyRow>> {
  if (fresh.size === 0) return fresh
  const rows = [...fresh.values()]
  if ((await insertIdempotencyKeys(db, rows)) === rows.length) return fresh
  return rowsByKey(await selectIdempotencyKeys(db, rows))
}

async function reserveExisting(
  db: Db,
  request: ReservationRequest,
  existing: IdempotencyRow,
  now: Instant,
): Promise<ReservationResult> {
  const isLeased = existing.status === null && existing.leased_until > now
  const isExpired = !isLeased && existing.created_at <= plusMs(now, -responseRetentionMs)
  if (!isExpired && !existing.fingerprint.equals(request.fingerprint)) return { kind: 'reused' }
  if (isLeased) return { kind: 'in-progress' }
  if (!isExpired && existing.status !== null)
    return { kind: 'completed', response: { status: existing.status, body: existing.answer ?? '' } }
  const row = newRow(request, now)
  return (await updateIdempotencyKey(db, existing, row)) ? reservedBy(row) : { kind: 'in-progress' }
}

function newRow(request: ReservationRequest, now: Instant): IdempotencyRow {
  return {
    ...refOf(request),
    fingerprint: request.fingerprint,
    token: newSortableToken(),
    leased_until: plusMs(now, leaseMs),
    status: null,
    answer: null,
    created_at: now,
  }
}

function reservedBy(row: IdempotencyRow): ReservationResult {
  return { kind: 'reserved', reservation: reservationOf(row) }
}

function reservationOf({ organization_id, idempotency_key, token }: IdempotencyRow): Reservation {
  return { organizationId: organization_id, key: idempotency_key, token, isResponseStored: false }
}

function refOf(request: ReservationRequest): IdempotencyKeyRef {
  return { organization_id: request.organizationId, idempotency_key: request.key }
}

function mapKeyOf(ref: IdempotencyKeyRef): string {
  return `${ref.organization_id} ${ref.idempotency_key}`
}

function rowsByKey(rows: readonly IdempotencyRow[]): ReadonlyMap<string, IdempotencyRow> {
  return new Map(rows.map(row => [mapKeyOf(row), row]))
}

/** Extends the leases of these reservations to {@link leaseMs} from now. */
export async function renewReservations(db: Db, reservations: readonly Reservation[], clock: Clock): Promise<void> {
  if (reservations.length > 0) await updateLeases(db, reservations, plusMs(clock.now(), leaseMs))
}
