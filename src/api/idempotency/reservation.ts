import { dayMs } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'

/**
 * An Idempotency-Key that one request has reserved. The code that does the request's work stores the response with it, in
 * the work's own transaction (store.ts); if it does not, the server stores the response once it is known.
 */
export interface Reservation {
  readonly organizationId: Id<'org'>
  readonly key: string
  /** Names this reservation of the key: only its holder may store the response. */
  readonly token: string
  /** The work tried to store the response itself: where it then succeeded, the response is stored. */
  isResponseStored: boolean
}

/** How long a reservation lasts unless it is renewed: until then, the key of a process that died stays reserved. */
export const leaseMs = 60_000

/** How long a stored response is replayed to repetitions of its request. */
export const responseRetentionMs = dayMs

/** The refusals of {@link keyInProgress}. */
export const keyInProgressRefusals = ['idempotency_in_progress'] as const

/** The refusal of a request while another request has its key reserved. */
export function keyInProgress(): Refusal {
  return refuse('idempotency_in_progress', {
    message: 'A request with this Idempotency-Key is still in progress.',
    retryAfterSeconds: 1,
  })
}
