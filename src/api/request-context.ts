import type { Id } from '../base/ids.ts'
import type { Caller } from './caller.ts'
import type { Reservation } from './idempotency/reservation.ts'

/** An authenticated request under way: what its route needs of the server. */
export interface RequestContext {
  /** Shown in X-Request-Id and in the request log. */
  readonly requestId: Id<'req'>
  readonly caller: Caller
  /**
   * The caller as they are now, for a request that lasts: their key, session and permissions are looked up again.
   * @throws Refusal where they would no longer be admitted
   */
  currentCaller(): Promise<Caller>
  /** Reserves memory for more bytes of the body. @throws Refusal `unavailable` when too many bytes are in flight */
  reserveMemory(bytes: number): void
  /**
   * Reserves the Idempotency-Key `key` for this request (see `reservation`), or gives the stored response of the same
   * request.
   * @param body the bytes that the client sent
   * @throws Refusal `idempotency_key_invalid`, `idempotency_key_reused`, `idempotency_in_progress`
   */
  reserveIdempotencyKey(key: string, body: Uint8Array): Promise<JsonResponse | undefined>
  readonly reservation: Reservation | undefined
  /** Records in the request log which email the request created. */
  setEmailId(id: Id<'eml'>): void
}

/** A response with a JSON body. */
export interface JsonResponse {
  readonly status: number
  readonly body: string
}

const requestContexts = new WeakMap<Request, RequestContext>()

/** Makes `context` the one that the request's route finds with {@link requestContextOf}. */
export function setRequestContext(request: Request, context: RequestContext): void {
  requestContexts.set(request, context)
}

/** @throws when the request was not authenticated, so that no route runs without a caller */
export function requestContextOf(request: Request): RequestContext {
  const context = requestContexts.get(request)
  if (!context) throw new Error('a route with a scope was reached without authentication')
  return context
}
