import type { Id } from '../base/ids.ts'
import type { Caller } from './caller.ts'
import type { Reservation } from './idempotency/reservation.ts'

/** What the door knows of a request that it let in, for the routes. */
export interface RequestContext {
  /** As the answer and the request log name it. */
  readonly requestId: Id<'req'>
  readonly caller: Caller
  /** Makes room for so many bytes more of its body. @throws Refusal `unavailable` when too much is in flight. */
  reserveMemory(bytes: number): void
  /**
   * Holds the Idempotency-Key `key` for this request (`reservation`), or gives the answer that the same request had.
   * @param body its bytes as they came
   * @throws Refusal `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_in_progress`
   */
  reserveIdempotencyKey(key: string, body: Uint8Array): Promise<JsonResponse | undefined>
  readonly reservation: Reservation | undefined
  /** For the request log: the email that this request made. */
  setEmailId(id: Id<'eml'>): void
}

/** An answer as it was given: JSON. */
export interface JsonResponse {
  readonly status: number
  readonly body: string
}

const requestContexts = new WeakMap<Request, RequestContext>()

/** Lets a request in: from here on its route may ask who it is. */
export function setRequestContext(request: Request, admission: RequestContext): void {
  requestContexts.set(request, admission)
}

/** @throws when the door did not let the request in, so that a route never runs for nobody. */
export function requestContextOf(request: Request): RequestContext {
  const admission = requestContexts.get(request)
  if (!admission) throw new Error('a route with a scope was reached without authentication')
  return admission
}
