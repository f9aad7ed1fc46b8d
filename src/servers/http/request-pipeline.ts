import { NotFoundError } from 'elysia'
import type { KeyAuthenticator } from '../../accounts/keys/keys.ts'
import type { RequestLog } from '../../accounts/request-log/writer.ts'
import type { Caller } from '../../api/caller.ts'
import { errorBody } from '../../api/error-body.ts'
import type { IdempotencyKeys } from '../../api/idempotency/idempotency-keys.ts'
import { maxBodyBytes } from '../../api/request-body.ts'
import { type RequestContext, setRequestContext } from '../../api/request-context.ts'
import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { type SpanOptions, traced } from '../../base/observability/tracing.ts'
import { Refusal, refuse } from '../../base/refusal.ts'
import { addressGroup } from './client-address.ts'
import { classifyError } from './error-classification.ts'
import { openMemoryBudget } from './memory-budget.ts'
import { newPendingRequest, type PendingRequest, readOnlyCaller, withoutBody } from './pending-request.ts'
import { openRateLimiter, type RateLimitStatus, secondsUntilReset } from './rate-limiter.ts'
import { clientRequestId, requestLogRow } from './request-log-row.ts'
import type { ResponseBuffer } from './response-buffer.ts'
import { countResponse, knownMethod } from './response-metrics.ts'

/** What the edge uses. */
export interface RequestPipelineDeps {
  readonly keyring: KeyAuthenticator
  readonly idempotencyKeys: IdempotencyKeys
  readonly requestLog: RequestLog
  readonly clock: Clock
  readonly log: Log
  readonly ratePerMinute: number
  readonly authFailuresPerMinute: number
  /** The routes. What they throw, and NotFoundError, comes through. */
  readonly dispatch: (request: Request) => Response | Promise<Response>
  readonly bufferResponse: ResponseBuffer
  /** The methods of a path, for Allow; undefined: there is no such path. */
  readonly allowedMethods: (path: string) => string | undefined
  /** The route of a path, as it is written; undefined: there is none. */
  readonly routeTemplate: (path: string) => string | undefined
}

/** Asks for the address of the client, while it is there. */
export type ClientAddressGetter = () => string

/**
 * What every request passes, in this order: its id, who asks (401), how often (429), then the routes (404, 403 and on).
 * Whatever comes of it gets the headers that every answer has. Never rejects.
 */
export function openRequestPipeline(
  deps: RequestPipelineDeps,
): (request: Request, addressOf: ClientAddressGetter) => Promise<Response> {
  const organizations = openRateLimiter(deps.ratePerMinute)
  const failures = openRateLimiter(deps.authFailuresPerMinute)
  const room = openMemoryBudget()

  function authenticate(exchange: PendingRequest, addressOf: ClientAddressGetter): Promise<Caller> {
    return countingFailures(addressOf, () => deps.keyring.authenticate(exchange.request.headers.get('authorization')))
  }

  /** Who shows no secret of ours is counted by address; past the limit, that is the answer. */
  async function countingFailures<Of>(addressOf: ClientAddressGetter, attempt: () => Of | Promise<Of>): Promise<Of> {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof Refusal && (error.status === 401 || error.detail.isFailedAuthentication))
        requireFewFailures(addressGroup(addressOf()))
      throw error
    }
  }

  /** Outside /v1 a route lets in by a secret of its own, or anyone. */
  function dispatchOpen(exchange: PendingRequest, addressOf: ClientAddressGetter): Promise<Response> {
    if (!exchange.path.startsWith('/provider/')) requireBoundedBody(exchange.request)
    return countingFailures(addressOf, () => deps.dispatch(exchange.routedRequest))
  }

  function requireFewFailures(address: string): void {
    const nowMs = millisecondsOf(deps.clock.now())
    const allowance = failures.consume(address, nowMs)
    if (!allowance.isAllowed)
      throw rateLimited('Too many requests from this address carried no valid API key or link.', allowance, nowMs)
  }

  function requireRate(exchange: PendingRequest, caller: Caller): void {
    const nowMs = millisecondsOf(deps.clock.now())
    const allowance = organizations.consume(caller.organizationId, nowMs)
    exchange.rateLimit = allowance
    if (!allowance.isAllowed)
      throw rateLimited(`The organization may make ${allowance.limit} requests a minute.`, allowance, nowMs)
  }

  function admission(exchange: PendingRequest, caller: Caller): RequestContext {
    return {
      requestId: exchange.id,
      caller: exchange.request.method === 'HEAD' ? readOnlyCaller(caller) : caller,
      reserveMemory(bytes) {
        room.acquire(bytes)
        exchange.budgetedBytes += bytes
      },
      async reserveIdempotencyKey(key, body) {
        const { method } = exchange.request
        const target = exchange.path + exchange.query
        const taken = await deps.idempotencyKeys.reserve(key, { caller, method, target, body })
        if ('token' in taken) exchange.reservation = taken
        else exchange.replayedResponse = taken
        return exchange.replayedResponse
      },
      get reservation() {
        return exchange.reservation
      },
      setEmailId(id) {
        exchange.emailId = id
      },
    }
  }

  async function respond(exchange: PendingRequest, addressOf: ClientAddressGetter): Promise<Response> {
    if (exchange.isApi) {
      const caller = await authenticate(exchange, addressOf)
      exchange.caller = caller
      exchange.clientAddress = addressOf()
      requireRate(exchange, caller)
      setRequestContext(exchange.routedRequest, admission(exchange, caller))
    }
    const response = await (exchange.isApi ? deps.dispatch(exchange.routedRequest) : dispatchOpen(exchange, addressOf))
    return exchange.request.method === 'HEAD' ? withoutBody(response) : deps.bufferResponse(response)
  }

  async function settle(exchange: PendingRequest, response: Response): Promise<void> {
    if (!exchange.reservation) return
    try {
      await deps.idempotencyKeys.settle(exchange.reservation, response.status, () => response.clone().text())
    } catch (error) {
      deps.log.error(
        { request_id: exchange.id, err: error },
        'the end of a request was not noted for its idempotency key',
      )
    }
  }

  async function refused(exchange: PendingRequest, error: unknown): Promise<Response> {
    const { refusal, isServerFault } = classifyError(error)
    if (isServerFault) deps.log.error({ request_id: exchange.id, err: error }, 'request failed')
    const { retryAfterSeconds } = refusal.detail
    const headers = new Headers()
    if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds))
    if (refusal.status === 401) headers.set('www-authenticate', 'Bearer')
    const allow = error instanceof NotFoundError ? deps.allowedMethods(exchange.path) : undefined
    if (allow !== undefined) headers.set('allow', allow)
    exchange.errorCode = refusal.code
    const response = Response.json(errorBody(refusal), { status: refusal.status, headers })
    return exchange.request.method === 'HEAD' ? withoutBody(response) : response
  }

  async function answer(exchange: PendingRequest, addressOf: ClientAddressGetter): Promise<Response> {
    let response: Response
    try {
      response = await respond(exchange, addressOf)
    } catch (error) {
      response = await refused(exchange, error)
    }
    await settle(exchange, response)
    room.release(exchange.budgetedBytes)
    setCommonHeaders(response.headers, exchange)
    recordResponse(deps, exchange, response.status)
    if (exchange.caller) deps.requestLog.record(requestLogRow(exchange, exchange.caller, response.status))
    return response
  }

  return (request, addressOf) => {
    const exchange = newPendingRequest(request, deps.clock.now())
    return traced(spanOf(exchange, deps.routeTemplate(exchange.path)), async note => {
      const response = await answer(exchange, addressOf)
      note({ 'http.response.status_code': response.status, 'mailroom.email_id': exchange.emailId })
      return response
    })
  }
}

/** Named as OpenTelemetry names what an HTTP server does; the path itself may hold secrets. */
function spanOf({ id, request }: PendingRequest, route: string | undefined): SpanOptions {
  const method = knownMethod(request.method)
  return {
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': route, 'mailroom.request_id': id },
    traceparent: request.headers.get('traceparent') ?? undefined,
  }
}

/** The refusals of a caller that makes too many requests. */
export const rateRefusals = ['rate_limited'] as const

function rateLimited(message: string, allowance: RateLimitStatus, nowMs: number): Refusal {
  return refuse('rate_limited', { message, retryAfterSeconds: secondsUntilReset(allowance, nowMs) })
}

/** The refusals of {@link requireBoundedBody}. */
export const largeBodyRefusals = ['payload_too_large'] as const

/**
 * Outside /v1 a route may read its body as it likes; here it is kept from being endless. The news of providers, who may
 * send theirs chunked, are counted by their route.
 */
function requireBoundedBody(request: Request): void {
  if (request.headers.has('transfer-encoding') || Number(request.headers.get('content-length') ?? 0) > maxBodyBytes)
    throw refuse('payload_too_large', { message: 'Declare a Content-Length of at most 16 MiB.' })
}

function setCommonHeaders(headers: Headers, { id, rateLimit }: PendingRequest): void {
  headers.set('x-request-id', id)
  headers.set('cache-control', 'no-store')
  if (!rateLimit) return
  headers.set('x-ratelimit-limit', String(rateLimit.limit))
  headers.set('x-ratelimit-remaining', String(rateLimit.remaining))
  headers.set('x-ratelimit-reset', String(rateLimit.resetsAt))
}

function recordResponse(
  { log, routeTemplate }: Pick<RequestPipelineDeps, 'log' | 'routeTemplate'>,
  exchange: PendingRequest,
  status: number,
): void {
  const seconds = (performance.now() - exchange.startedMs) / 1000
  const { method } = exchange.request
  const route = routeTemplate(exchange.path)
  countResponse({ method, route, status, code: exchange.errorCode, seconds })
  // What went well is counted, and seen in the log only by who asks for it; unless it made an email, whose way begins here.
  const level = status < 400 && exchange.emailId === undefined ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level](
    {
      request_id: exchange.id,
      client_request_id: clientRequestId(exchange.request) ?? undefined,
      method,
      route,
      status,
      duration_ms: Math.round(seconds * 10_000) / 10,
      api_key_id: exchange.caller?.keyId,
      email_id: exchange.emailId,
      error_code: exchange.errorCode,
      idempotent_replay: exchange.replayedResponse !== undefined || undefined,
    },
    'request answered',
  )
}
