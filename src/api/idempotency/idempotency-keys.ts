import type { Clock } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import type { Db } from '../../base/database/database.ts'
import type { Log } from '../../base/observability/log.ts'
import { refuse } from '../../base/refusal.ts'
import type { Caller } from '../caller.ts'
import type { JsonResponse } from '../request-context.ts'
import type { Reservation } from './reservation.ts'
import {
  keyInProgress,
  leaseMs,
  type ReservationRequest,
  type ReservationResult,
  releaseKey,
  renewReservations,
  reserveKeys,
  reserveKeysRefusals,
  storedByWork,
  storeResponses,
} from './store.ts'

/** All that makes a request the same request. */
export interface FingerprintedRequest {
  readonly caller: Pick<Caller, 'keyId' | 'organizationId' | 'brandId' | 'scopes'>
  readonly method: string
  /** Path and query, as they came. */
  readonly target: string
  readonly body: Uint8Array
}

/** SHA-256 of key id, effective scopes, brand, method, path, query and body. */
export function fingerprintOf({ caller, method, target, body }: FingerprintedRequest): Buffer {
  const head = JSON.stringify([caller.keyId, [...caller.scopes].sort(), caller.brandId, method, target])
  return new Bun.CryptoHasher('sha256').update(`${head}\n`).update(body).digest()
}

/** The Idempotency-Keys that requests of this process hold. */
export interface IdempotencyKeys {
  /**
   * Holds `key` for a request, or gives the answer that the same request had.
   * @throws Refusal `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_in_progress`
   */
  reserve(key: string, sameness: FingerprintedRequest): Promise<Reservation | JsonResponse>
  /**
   * Ends the hold with what was answered: 2xx is kept, where the work has not kept it itself; anything else frees the key.
   * @param body the answer's body; asked only where it is to be kept
   */
  settle(reservation: Reservation, status: number, body: () => Promise<string>): Promise<void>
  close(): void
}

interface ReservationFailure {
  readonly kind: 'trouble'
  readonly error: unknown
}

/** The refusals of {@link IdempotencyKeys.reserve}. */
export const idempotencyRefusals = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  ...reserveKeysRefusals,
] as const

/** Renews, by default three times a lease, what is held for long. */
export function openIdempotencyKeys(db: Db, clock: Clock, log: Log, renewEveryMs = leaseMs / 3): IdempotencyKeys {
  const claim = batched<ReservationRequest, ReservationResult | ReservationFailure>(
    { maxItems: 64, maxInFlight: 2 },
    async asks => {
      try {
        return await reserveKeys(db, asks, clock)
      } catch (error) {
        // Not thrown: each of them would then be asked for alone, one after the other, while the database is away.
        return asks.map(() => ({ kind: 'trouble', error }))
      }
    },
  )
  const held = new Set<Reservation>()
  const renewal = setInterval(() => {
    renewReservations(db, [...held], clock).catch(error =>
      log.error({ err: error }, 'idempotency keys were not renewed'),
    )
  }, renewEveryMs)
  renewal.unref()

  return {
    async reserve(key, sameness) {
      requireForm(key)
      const { organizationId } = sameness.caller
      const claimed = await claim({ organizationId, key, fingerprint: fingerprintOf(sameness) })
      switch (claimed.kind) {
        case 'held':
          held.add(claimed.reservation)
          return claimed.reservation
        case 'answered':
          return claimed.answer
        case 'in-flight':
          throw keyInProgress()
        case 'trouble':
          throw claimed.error
        case 'reused':
          throw refuse('idempotency_key_reused', {
            message: 'This Idempotency-Key was used for another request.',
            param: 'Idempotency-Key',
          })
        default:
          return claimed satisfies never
      }
    },
    async settle(reservation, status, body) {
      held.delete(reservation)
      const isKept = status >= 200 && status < 300
      if (!isKept) return releaseKey(db, reservation)
      if (storedByWork(reservation)) return
      const answer = { reservation, status, body: await body(), at: clock.now() }
      const [kept] = await storeResponses(db, [answer])
      if (!kept) log.warn('an answer was not kept: its idempotency key was taken over')
    },
    close: () => clearInterval(renewal),
  }
}

function requireForm(key: string): void {
  if (key.length < 8 || key.length > 255)
    throw refuse('idempotency_key_invalid', {
      message: `The Idempotency-Key has ${key.length} characters; expected 8 to 255.`,
      param: 'Idempotency-Key',
    })
}
