import type { Id } from '../base/ids.ts'
import type { Caller } from './caller.ts'
import type { Reservation } from './idempotency/reservation.ts'

/** What the door knows of a request that it let in, for the routes. */
export interface Admission {
  /** As the answer and the request log name it. */
  readonly requestId: Id<'req'>
  readonly caller: Caller
  /** Makes room for so many bytes more of its body. @throws Refusal `unavailable` when too much is in flight. */
  takeRoom(bytes: number): void
  /**
   * Holds the Idempotency-Key `key` for this request (`reservation`), or gives the answer that the same request had.
   * @param body its bytes as they came
   * @throws Refusal `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_in_progress`
   */
  reserve(key: string, body: Uint8Array): Promise<Answer | undefined>
  readonly reservation: Reservation | undefined
  /** For the request log: the email that this request made. */
  noteEmail(id: Id<'eml'>): void
}

/** An answer as it was given: JSON. */
export interface Answer {
  readonly status: number
  readonly body: string
}

const admissions = new WeakMap<Request, Admission>()

/** Lets a request in: from here on its route may ask who it is. */
export function admit(request: Request, admission: Admission): void {
  admissions.set(request, admission)
}

/** @throws when the door did not let the request in, so that a route never runs for nobody. */
export function admissionOf(request: Request): Admission {
  const admission = admissions.get(request)
  if (!admission) throw new Error('a route with a scope was reached without authentication')
  return admission
}
