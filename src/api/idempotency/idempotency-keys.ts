import type { Clock } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { type Db, isDatabaseUnavailable } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { refuse } from '../../base/refusal.ts'
import type { JsonResponse } from '../request-context.ts'
import { type FingerprintedRequest, fingerprintOf } from './fingerprint.ts'
import { keyInProgress, keyInProgressRefusals, leaseMs, type Reservation } from './reservation.ts'
import { type ReservationRequest, type ReservationResult, renewReservations, reserveKeys } from './reserve.ts'
import { storeResponses } from './store.ts'
import { deleteReservation } from './table.ts'

/**
 * The Idempotency-Keys of the requests of this process. A request reserves its key before its work starts
 * (reserve.ts), the response is stored with the work (store.ts) or here, and a repetition of the request gets it for 24
 * hours. Reservations of requests that take long are renewed.
 */
export interface IdempotencyKeys {
  /**
   * Reserves `key` for a request, or gives the stored response of the same request.
   * @throws Refusal `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_in_progress`
   */
  reserve(key: string, request: FingerprintedRequest): Promise<Reservation | JsonResponse>
  /**
   * Ends a reservation once the request is answered: a 2xx response is stored, unless the work has stored it; after any
   * other the key is free again.
   * @param body the response's body; called only where it is to be stored
   */
  settle(reservation: Reservation, status: number, body: () => Promise<string>): Promise<void>
  /** Renews no more reservations. */
  close(): void
}

/** A response waits at most this long until its key is free: it may be the database that its request failed for. */
const maxReleaseWaitMs = 500
const releaseEveryMs = 1000

interface ReservationFailure {
  readonly kind: 'failed'
  readonly error: unknown
}

/** The refusals of {@link IdempotencyKeys.reserve}. */
export const idempotencyRefusals = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  ...keyInProgressRefusals,
] as const

/** @param renewEveryMs how often reservations are renewed; by default three times a lease */
export function openIdempotencyKeys(db: Db, clock: Clock, log: Log, renewEveryMs = leaseMs / 3): IdempotencyKeys {
  const reserveBatched = batched<ReservationRequest, ReservationResult | ReservationFailure>(
    { maxItems: 64, maxInFlight: 2 },
    async requests => {
      try {
        return await reserveKeys(db, requests, clock, reservation => void release(reservation))
      } catch (error) {
        // Not thrown: while the database is away, each request of the batch would be tried alone, one after the other.
        return requests.map(() => ({ kind: 'failed', error }))
      }
    },
  )
  const inFlight = new Set<Reservation>()
  const renewal = setInterval(() => {
    renewReservations(db, [...inFlight], clock).catch(error =>
      log.error({ err: error }, 'could not renew the idempotency keys of requests in flight; they expire in a minute'),
    )
  }, renewEveryMs)
  renewal.unref()
  let isClosed = false

  /** Frees a key, however long the database is away; after a minute another request may have it anyway. */
  async function release(reservation: Reservation): Promise<void> {
    for (const until = performance.now() + leaseMs; ; await Bun.sleep(releaseEveryMs))
      try {
        return await deleteReservation(db, reservation)
      } catch (error) {
        if (isDatabaseUnavailable(error) && !isClosed && performance.now() < until) continue
        return log.error({ err: error }, 'could not free an idempotency key; it is free in a minute')
      }
  }

  return {
    async reserve(key, request) {
      requireKeyLength(key)
      const { organizationId } = request.caller
      const result = await reserveBatched({ organizationId, key, fingerprint: fingerprintOf(request) })
      switch (result.kind) {
        case 'reserved':
          inFlight.add(result.reservation)
          return result.reservation
        case 'completed':
          return result.response
        case 'in-progress':
          throw keyInProgress()
        case 'failed':
          throw result.error
        case 'reused':
          throw refuse('idempotency_key_reused', {
            message: 'This Idempotency-Key was used for another request.',
            param: 'Idempotency-Key',
          })
        default:
          return result satisfies never
      }
    },
    async settle(reservation, status, body) {
      inFlight.delete(reservation)
      const isSuccess = status >= 200 && status < 300
      if (!isSuccess) return await Promise.race([release(reservation), Bun.sleep(maxReleaseWaitMs)])
      if (reservation.isResponseStored) return
      const [isStored] = await storeResponses(db, [{ reservation, status, body: await body() }])
      if (!isStored)
        log.warn(
          'did not store a response: another request has taken over its idempotency key, whose lease had run out',
        )
    },
    close: () => {
      isClosed = true
      clearInterval(renewal)
    },
  }
}

function requireKeyLength(key: string): void {
  if (key.length < 8 || key.length > 255)
    throw refuse('idempotency_key_invalid', {
      message: `The Idempotency-Key has ${key.length} characters; expected 8 to 255.`,
      param: 'Idempotency-Key',
    })
}
