import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, newSortableToken } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { JsonResponse } from '../request-context.ts'
import type { Reservation } from './reservation.ts'
import {
  deleteExpiredKeys,
  deleteReservation,
  type IdempotencyKeyRef,
  type IdempotencyRow,
  insertIdempotencyKeys,
  type StoredResponse,
  selectCompletedTokens,
  selectIdempotencyKeys,
  updateIdempotencyKey,
  updateLeases,
  updateResponses,
} from './table.ts'

/** How long a request holds its key without renewing. A process that dies lets go of it then. */
export const leaseMs = 60_000
const responseRetentionMs = 24 * 60 * 60 * 1000

/** A request for an Idempotency-Key. */
export interface ReservationRequest {
  readonly organizationId: Id<'org'>
  readonly key: string
  /** SHA-256 of all that makes a request the same request. */
  readonly fingerprint: Buffer
}

/** What comes of it. `reused`: another request had this key. `in-flight`: the same request is at work. */
export type ReservationResult =
  | { readonly kind: 'held'; readonly reservation: Reservation }
  | { readonly kind: 'answered'; readonly answer: JsonResponse }
  | { readonly kind: 'in-flight' }
  | { readonly kind: 'reused' }

/**
 * Takes the keys for these requests, in a short transaction of its own (one statement, committed before the work
 * starts). A key whose holder let its lease run out, or whose answer is older than 24 hours, is taken over.
 */
export async function reserveKeys(
  db: Db,
  asks: readonly ReservationRequest[],
  clock: Clock,
): Promise<readonly ReservationResult[]> {
  const now = clock.now()
  // Looked at first: an insert would wait for whoever is storing an answer, and all of this batch with it.
  const rows = byPlace(await selectIdempotencyKeys(db, asks.map(placeOf)))
  const fresh = new Map<string, IdempotencyRow>()
  for (const ask of asks) {
    const place = nameOf(placeOf(ask))
    if (!rows.has(place) && !fresh.has(place)) fresh.set(place, rowFor(ask, now))
  }
  const made = await make(db, fresh)
  const given = new Set<string>()
  return Promise.all(
    asks.map(async (ask): Promise<ReservationResult> => {
      const place = nameOf(placeOf(ask))
      const found = rows.get(place) ?? made.get(place)
      // Given back meanwhile.
      if (!found) return { kind: 'in-flight' }
      if (found.token !== fresh.get(place)?.token || given.has(place)) return reserveExisting(db, ask, found, now)
      given.add(place)
      return held(found)
    }),
  )
}

/** The rows as they stand after making these, whoever made them. */
async function make(db: Db, fresh: ReadonlyMap<string, IdempotencyRow>): Promise<ReadonlyMap<string, IdempotencyRow>> {
  if (fresh.size === 0) return fresh
  const wanted = [...fresh.values()]
  if ((await insertIdempotencyKeys(db, wanted)) === wanted.length) return fresh
  return byPlace(await selectIdempotencyKeys(db, wanted))
}

async function reserveExisting(
  db: Db,
  ask: ReservationRequest,
  found: IdempotencyRow,
  now: Instant,
): Promise<ReservationResult> {
  const isLeased = found.status === null && found.leased_until > now
  const isOver = !isLeased && found.created_at <= plusMs(now, -responseRetentionMs)
  if (!isOver && !found.fingerprint.equals(ask.fingerprint)) return { kind: 'reused' }
  if (isLeased) return { kind: 'in-flight' }
  if (!isOver && found.status !== null)
    return { kind: 'answered', answer: { status: found.status, body: found.answer ?? '' } }
  const row = rowFor(ask, now)
  return (await updateIdempotencyKey(db, found, row)) ? held(row) : { kind: 'in-flight' }
}

function rowFor(ask: ReservationRequest, now: Instant): IdempotencyRow {
  return {
    ...placeOf(ask),
    fingerprint: ask.fingerprint,
    token: newSortableToken(),
    leased_until: plusMs(now, leaseMs),
    status: null,
    answer: null,
    created_at: now,
  }
}

function held(row: IdempotencyRow): ReservationResult {
  return {
    kind: 'held',
    reservation: { organizationId: row.organization_id, key: row.idempotency_key, token: row.token },
  }
}

function placeOf(ask: ReservationRequest): IdempotencyKeyRef {
  return { organization_id: ask.organizationId, idempotency_key: ask.key }
}

function nameOf(place: IdempotencyKeyRef): string {
  return `${place.organization_id} ${place.idempotency_key}`
}

function byPlace(rows: readonly IdempotencyRow[]): ReadonlyMap<string, IdempotencyRow> {
  return new Map(rows.map(row => [nameOf(row), row]))
}

const stored = new WeakSet<Reservation>()

/**
 * Stores answers, inside the transaction of the work they answer. One truth for each, in their order: false where the
 * request no longer holds its key; its work must then be rolled back ({@link reservationLost}).
 */
export async function storeResponses(db: Db, answers: readonly StoredResponse[]): Promise<readonly boolean[]> {
  if (answers.length === 0) return []
  for (const answer of answers) stored.add(answer.reservation)
  if ((await updateResponses(db, answers)) === answers.length) return answers.map(() => true)
  const tokens = await selectCompletedTokens(
    db,
    answers.map(answer => answer.reservation),
  )
  return answers.map(answer => tokens.has(answer.reservation.token))
}

/**
 * Stores the one answer of an operation, inside its transaction; nothing to do where the client sent no key.
 * @throws Refusal when the request no longer holds its key, which rolls the work back.
 */
export async function storeResponse(
  db: Db,
  reservation: Reservation | undefined,
  answer: { readonly status: number; readonly body: object; readonly at?: Instant },
): Promise<void> {
  if (!reservation) return
  const [kept] = await storeResponses(db, [{ reservation, ...answer, body: JSON.stringify(answer.body) }])
  if (!kept) throw reservationLost()
}

/** The refusal for a request whose key someone else took over. */
export function reservationLost() {
  return keyInProgress()
}

/** The refusals of {@link reserveKeys}. */
export const reserveKeysRefusals = ['idempotency_in_progress'] as const

/** The refusal while the same request is at work. */
export function keyInProgress() {
  return refuse('idempotency_in_progress', {
    message: 'A request with this Idempotency-Key is still being worked on.',
    retryAfterSeconds: 1,
  })
}

/** Did the work try to store its answer by itself? If it then answered 2xx, the answer is there. */
export function storedByWork(reservation: Reservation): boolean {
  return stored.has(reservation)
}

/** Gives the key back after an answer that is not kept. */
export function releaseKey(db: Db, reservation: Reservation): Promise<void> {
  return deleteReservation(db, reservation)
}

/** Holds the keys for another lease. */
export async function renewReservations(db: Db, reservations: readonly Reservation[], clock: Clock): Promise<void> {
  if (reservations.length > 0) await updateLeases(db, reservations, plusMs(clock.now(), leaseMs))
}

/** Forgets answers older than 24 hours, at most `most` of them; says how many. For housekeeping. */
export function deleteExpiredResponses(db: Db, clock: Clock, most: number): Promise<number> {
  const now = clock.now()
  return deleteExpiredKeys(db, plusMs(now, -responseRetentionMs), now, most)
}
