import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import type { JsonResponse } from '../../api/request-context.ts'
import type { Session } from '../../api/session/session.ts'
import type { Instant } from '../../base/clock.ts'
import { type Id, newId } from '../../base/ids.ts'
import type { RateLimitStatus } from '../limits/rate-limiter.ts'
import type { RequestTarget } from './routing/request-target.ts'

/** A request in the pipeline, and what is known of it so far. */
export interface PendingRequest {
  readonly target: RequestTarget
  readonly request: Request
  /** As the routes get it: HEAD is GET there. */
  readonly routedRequest: Request
  readonly id: Id<'req'>
  readonly receivedAt: Instant
  readonly startedMs: number
  /** Set with the caller or the session. */
  clientAddress?: string
  caller?: Caller
  /** Who is signed in to the dashboard. */
  session?: Session | null
  /** The values of Set-Cookie in the response. */
  cookies?: string[]
  rateLimit?: RateLimitStatus
  reservation?: Reservation
  replayedResponse?: JsonResponse
  errorCode?: string
  /** The email that it created. */
  emailId?: Id<'eml'>
  /** Bytes that its body has acquired of the memory budget. */
  budgetedBytes: number
}

/** A request that has just come in, before authentication. */
export function newPendingRequest(target: RequestTarget, receivedAt: Instant): PendingRequest {
  const { request } = target
  return {
    target,
    request,
    routedRequest:
      request.method === 'HEAD' ? new Request(request.url, { method: 'GET', headers: request.headers }) : request,
    id: newId('req'),
    receivedAt,
    startedMs: performance.now(),
    budgetedBytes: 0,
  }
}

/** The caller of a HEAD request, which has no effects: without the scopes that write. */
export function readOnlyCaller(caller: Caller): Caller {
  return { ...caller, scopes: new Set([...caller.scopes].filter(scope => scope.endsWith(':read'))) }
}

/** The response to HEAD: that of GET without its body. */
export async function withoutBody(response: Response): Promise<Response> {
  const headers = new Headers(response.headers)
  // Server-sent events have no end.
  const isEndless = headers.get('content-type') === 'text/event-stream'
  if (isEndless || headers.has('content-length')) await response.body?.cancel()
  // That of a 304 would be the length of what was not modified.
  else if (response.status !== 304) headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status: response.status, headers })
}
