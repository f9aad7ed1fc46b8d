import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import type { JsonResponse } from '../../api/request-context.ts'
import type { Instant } from '../../base/clock.ts'
import { type Id, newId } from '../../base/ids.ts'
import type { RateLimitStatus } from './limits/rate-limiter.ts'

/** A request in the pipeline, and what is known of it so far. */
export interface PendingRequest {
  readonly request: Request
  /** As the routes get it: HEAD is GET there. */
  readonly routedRequest: Request
  readonly id: Id<'req'>
  readonly receivedAt: Instant
  readonly startedMs: number
  readonly path: string
  /** From `?` on; may be empty. */
  readonly query: string
  /** Below /v1, where an API key is required. */
  readonly isApi: boolean
  /** Set with the caller. */
  clientAddress?: string
  caller?: Caller
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
export function newPendingRequest(request: Request, receivedAt: Instant): PendingRequest {
  const { url } = request
  // Found as Elysia finds it, so that both see the same path.
  const start = url.indexOf('/', 'http://'.length)
  const queryAt = url.indexOf('?', start + 1)
  const path = url.substring(start, queryAt === -1 ? undefined : queryAt)
  return {
    request,
    routedRequest: request.method === 'HEAD' ? new Request(url, { method: 'GET', headers: request.headers }) : request,
    id: newId('req'),
    receivedAt,
    startedMs: performance.now(),
    path,
    query: queryAt === -1 ? '' : url.substring(queryAt),
    isApi: path === '/v1' || path.startsWith('/v1/'),
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
  if (headers.has('content-length')) await response.body?.cancel()
  else headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status: response.status, headers })
}
