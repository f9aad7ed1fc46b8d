import { NotFoundError } from 'elysia'
import type { KeyAuthenticator } from '../../accounts/keys/keys.ts'
import type { RequestLog } from '../../accounts/request-log/writer.ts'
import type { Caller } from '../../api/caller.ts'
import { errorBody } from '../../api/error-body.ts'
import type { IdempotencyKeys } from '../../api/idempotency/idempotency-keys.ts'
import { refusalPageOf, showRefusalsAs } from '../../api/pages/browser.ts'
import { maxBodyBytes } from '../../api/request-body.ts'
import { type RequestContext, setRequestContext } from '../../api/request-context.ts'
import type { Clock } from '../../base/clock.ts'
import type { Id } from '../../base/ids.ts'
import { traced } from '../../base/observability/tracing.ts'
import { Refusal, refuse } from '../../base/refusal.ts'
import type { ClientLimits } from '../limits/client-limits.ts'
import { mcpPath, resourceMetadataUrl } from '../mcp/protected-resource.ts'
import { browserOrigin, requireSafeOrigin } from './dashboard/browser-origin.ts'
import { refusalPage } from './dashboard/refusal-page.ts'
import { openSessionRequests, type SessionRequestDeps } from './dashboard/session-requests.ts'
import type { StaticFiles } from './dashboard/static-files.ts'
import { discardBody } from './discard-body.ts'
import { classifyError } from './error-classification.ts'
import { requireSmallHeader } from './limits/header-size.ts'
import { openMemoryBudget } from './limits/memory-budget.ts'
import { newPendingRequest, type PendingRequest, readOnlyCaller, withoutBody } from './pending-request.ts'
import { requestLogRow } from './request-log-row.ts'
import { type ObservationDeps, recordResponse, spanOf, templateOf } from './request-observation.ts'
import type { ResponseBuffer } from './response-buffer.ts'
import type { RequestTarget } from './routing/request-target.ts'

/** What the request pipeline depends on. */
export interface RequestPipelineDeps extends ObservationDeps {
  readonly authenticator: KeyAuthenticator
  readonly sessionAuthenticator: SessionRequestDeps['authenticator']
  readonly idempotencyKeys: IdempotencyKeys
  readonly requestLog: RequestLog
  readonly clock: Clock
  readonly clientLimits: ClientLimits
  /** Of one person in the dashboard. */
  readonly publicUrl: string | undefined
  /** The routes. It rejects with what they throw, and with NotFoundError. */
  readonly dispatch: (request: Request) => Response | Promise<Response>
  readonly staticFiles: StaticFiles
  readonly bufferResponse: ResponseBuffer
  /** The methods of a path, for the header Allow; undefined: no route has the path. */
  readonly allowedMethods: (path: string) => string | undefined
}

/** Gives the address of the client; only while the connection is open. */
export type ClientAddressGetter = () => string

/**
 * The steps of every request, in this order: its id, authentication (401; by a key, or by a session in the dashboard), the
 * rate limit (429), then the routes (404, 403 and so on). Every response gets the common headers, is logged and is counted. Never rejects.
 */
export function openRequestPipeline(
  deps: RequestPipelineDeps,
): (target: RequestTarget, getAddress: ClientAddressGetter) => Promise<Response> {
  const { clientLimits } = deps
  const admitSession = openSessionRequests({ ...deps, authenticator: deps.sessionAuthenticator })
  const memory = openMemoryBudget()

  function authenticate({ request }: PendingRequest): Promise<Caller> {
    return deps.authenticator.authenticate(request.headers.get('authorization'))
  }

  /** Counts failed authentications by the client's network; past the limit the request is refused with `rate_limited` instead. */
  async function countingFailures<Result>(
    getAddress: ClientAddressGetter,
    attempt: () => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof Refusal && (error.status === 401 || error.detail.isFailedAuthentication))
        clientLimits.countFailure(getAddress())
      throw error
    }
  }

  /** Outside /v1 a route authenticates by a secret of its own, such as a link, or is open to everyone. */
  function dispatchPublic(pending: PendingRequest, getAddress: ClientAddressGetter): Promise<Response> {
    if (!pending.target.path.startsWith('/provider/')) requireBoundedBody(pending.request)
    return countingFailures(getAddress, () => deps.dispatch(pending.routedRequest))
  }

  /** The page of the dashboard, whatever becomes of it, is for people. */
  function dispatchFile({ request, routedRequest, target }: PendingRequest): Response {
    showRefusalsAs(refusalPage, routedRequest)
    requireSafeOrigin(browserOrigin(request, target.isTls, deps.publicUrl), deps.publicUrl)
    return deps.staticFiles(routedRequest, target.path)
  }

  function requireWithinRate(pending: PendingRequest, caller: Caller): void {
    const status = clientLimits.countRequest(caller.organizationId)
    pending.rateLimit = status
    if (!status.isAllowed) throw clientLimits.refuseRequest(status)
  }

  function reserveMemory(pending: PendingRequest, bytes: number): void {
    memory.acquire(bytes)
    pending.budgetedBytes += bytes
  }

  function requestContext(pending: PendingRequest, caller: Caller, findCaller: () => Promise<Caller>): RequestContext {
    const allowed = (found: Caller) => (pending.request.method === 'HEAD' ? readOnlyCaller(found) : found)
    return {
      requestId: pending.id,
      caller: allowed(caller),
      currentCaller: async () => allowed(await findCaller()),
      reserveMemory: bytes => reserveMemory(pending, bytes),
      async reserveIdempotencyKey(key, body) {
        const { method } = pending.request
        const target = pending.target.path + pending.target.query
        const reserved = await deps.idempotencyKeys.reserve(key, { caller, method, target, body })
        if ('token' in reserved) pending.reservation = reserved
        else pending.replayedResponse = reserved
        return pending.replayedResponse
      },
      get reservation() {
        return pending.reservation
      },
      setEmailId(id) {
        pending.emailId = id
      },
    }
  }

  async function respond(pending: PendingRequest, getAddress: ClientAddressGetter): Promise<Response> {
    const { audience } = pending.target
    if (audience === 'key') {
      const caller = await countingFailures(getAddress, () => authenticate(pending))
      pending.caller = caller
      pending.clientAddress = getAddress()
      requireWithinRate(pending, caller)
      setRequestContext(
        pending.routedRequest,
        requestContext(pending, caller, () => authenticate(pending)),
      )
    } else if (isOfDashboard(pending)) {
      pending.clientAddress = getAddress()
      await admitSession(pending, pending.clientAddress, {
        reserveMemory: bytes => reserveMemory(pending, bytes),
        contextFor: (member, findMember) => requestContext(pending, member, findMember),
      })
    }
    requireSmallHeader(pending.request)
    const response = await dispatch(pending, getAddress)
    return pending.request.method === 'HEAD' ? withoutBody(response) : deps.bufferResponse(response, pending.request)
  }

  function dispatch(pending: PendingRequest, getAddress: ClientAddressGetter): Response | Promise<Response> {
    switch (pending.target.audience) {
      case 'key':
      case 'member':
      case 'session':
        return deps.dispatch(pending.routedRequest)
      case 'file':
        return dispatchFile(pending)
      case 'public':
        return dispatchPublic(pending, getAddress)
      default:
        return pending.target.audience satisfies never
    }
  }

  async function settleIdempotencyKey(pending: PendingRequest, response: Response): Promise<void> {
    if (!pending.reservation) return
    try {
      await deps.idempotencyKeys.settle(pending.reservation, response.status, () => response.clone().text())
    } catch (error) {
      deps.log.error(
        { request_id: pending.id, err: error },
        'response not stored for its idempotency key: a retry with the key may do the work again',
      )
    }
  }

  async function errorResponse(pending: PendingRequest, error: unknown): Promise<Response> {
    const { refusal, isServerFault } = classifyError(error)
    if (isServerFault) deps.log.error({ request_id: pending.id, err: error }, 'request failed')
    const { retryAfterSeconds } = refusal.detail
    const response =
      refusalPageOf(pending.routedRequest)?.(refusal) ?? Response.json(errorBody(refusal), { status: refusal.status })
    const { headers } = response
    if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds))
    if (refusal.status === 401 && !isOfDashboard(pending))
      headers.set('www-authenticate', challenge(pending, deps.publicUrl))
    const allow = error instanceof NotFoundError ? deps.allowedMethods(pending.target.routedPath) : undefined
    if (allow !== undefined) headers.set('allow', allow)
    pending.errorCode = refusal.code
    return pending.request.method === 'HEAD' ? withoutBody(response) : response
  }

  async function handle(pending: PendingRequest, getAddress: ClientAddressGetter): Promise<Response> {
    let response: Response
    try {
      response = await respond(pending, getAddress)
    } catch (error) {
      response = await errorResponse(pending, error)
    }
    await settleIdempotencyKey(pending, response)
    memory.release(pending.budgetedBytes)
    setCommonHeaders(response.headers, pending)
    recordResponse(deps, pending, response.status)
    const { caller } = pending
    if (caller && hasKey(caller)) deps.requestLog.record(requestLogRow(pending, caller, response.status))
    if (response.status >= 400) await discardBody(pending.request)
    return response
  }

  return (target, getAddress) => {
    const pending = newPendingRequest(target, deps.clock.now())
    return traced(spanOf(pending, templateOf(pending, deps)), async setAttributes => {
      const response = await handle(pending, getAddress)
      setAttributes({ 'http.response.status_code': response.status, 'mailroom.email_id': pending.emailId })
      return response
    })
  }
}

/** How to authenticate (RFC 6750 §3). MCP clients are told where they learn more (RFC 9728 §5.1). */
function challenge({ target, request }: PendingRequest, publicUrl: string | undefined): string {
  if (target.routedPath !== mcpPath) return 'Bearer'
  const base = publicUrl ?? new URL(request.url).origin
  return `Bearer resource_metadata="${resourceMetadataUrl(base)}"`
}

/** Requests of the dashboard have no key, and do not stand in the request log. */
function hasKey(caller: Caller): caller is Caller & { readonly keyId: Id<'key'> } {
  return caller.keyId !== null
}

/** The refusals of {@link requireBoundedBody}. */
export const largeBodyRefusals = ['payload_too_large'] as const

/**
 * Outside /v1 routes read their bodies themselves; this keeps those from being endless. Providers may send their events
 * chunked: their route counts the bytes.
 */
function requireBoundedBody(request: Request): void {
  if (request.headers.has('transfer-encoding') || Number(request.headers.get('content-length') ?? 0) > maxBodyBytes)
    throw refuse('payload_too_large', { message: 'Declare a Content-Length of at most 16 MiB.' })
}

/** Is it authenticated by a cookie, and not by a key? */
function isOfDashboard({ target: { audience } }: PendingRequest): boolean {
  return audience === 'session' || audience === 'member'
}

function setCommonHeaders(headers: Headers, pending: PendingRequest): void {
  const { id, rateLimit, target, cookies } = pending
  headers.set('x-request-id', id)
  if (target.audience !== 'file' || !headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (isOfDashboard(pending)) headers.set('x-content-type-options', 'nosniff')
  if (cookies) for (const cookie of cookies) headers.append('set-cookie', cookie)
  if (!rateLimit) return
  headers.set('x-ratelimit-limit', String(rateLimit.limit))
  headers.set('x-ratelimit-remaining', String(rateLimit.remaining))
  headers.set('x-ratelimit-reset', String(rateLimit.resetsAt))
}
