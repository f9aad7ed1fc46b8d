import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import type { JsonResponse } from '../../api/request-context.ts'
import type { Instant } from '../../base/clock.ts'
import { type Id, newId } from '../../base/ids.ts'
import type { RateLimitStatus } from './rate-limiter.ts'

/** One request on its way through the door, and what was learnt of it so far. */
export interface PendingRequest {
  readonly request: Request
  /** As the routes see it: HEAD is GET there. */
  readonly routedRequest: Request
  readonly id: Id<'req'>
  readonly receivedAt: Instant
  readonly startedMs: number
  readonly path: string
  /** From `?` on; may be empty. */
  readonly query: string
  /** Below /v1, where a key is needed. */
  readonly isApi: boolean
  /** Of the client; known once it has a caller. */
  clientAddress?: string
  caller?: Caller
  rateLimit?: RateLimitStatus
  reservation?: Reservation
  replayedResponse?: JsonResponse
  errorCode?: string
  /** The email that it made. */
  emailId?: Id<'eml'>
  /** Bytes of its body that it has room for. */
  budgetedBytes: number
}

/** What comes in, before anything is known of who sent it. */
export function newPendingRequest(request: Request, at: Instant): PendingRequest {
  const { url } = request
  // As Elysia finds it, so that no path is one thing here and another there.
  const start = url.indexOf('/', 'http://'.length)
  const queryAt = url.indexOf('?', start + 1)
  const path = url.substring(start, queryAt === -1 ? undefined : queryAt)
  return {
    request,
    routedRequest: request.method === 'HEAD' ? new Request(url, { method: 'GET', headers: request.headers }) : request,
    id: newId('req'),
    receivedAt: at,
    startedMs: performance.now(),
    path,
    query: queryAt === -1 ? '' : url.substring(queryAt),
    isApi: path === '/v1' || path.startsWith('/v1/'),
    budgetedBytes: 0,
  }
}

/** What a HEAD may do: it has no effects, so it reads and no more. */
export function readOnlyCaller(caller: Caller): Caller {
  return { ...caller, scopes: new Set([...caller.scopes].filter(scope => scope.endsWith(':read'))) }
}

/** The answer to HEAD: what GET would have answered, without its body. */
export async function withoutBody(response: Response): Promise<Response> {
  const headers = new Headers(response.headers)
  if (headers.has('content-length')) await response.body?.cancel()
  else headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  return new Response(null, { status: response.status, headers })
}
