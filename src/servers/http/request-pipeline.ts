import { NotFoundError } from 'elysia'
import type { Keyring } from '../../accounts/keys/keys.ts'
import type { RequestLog } from '../../accounts/request-log/writer.ts'
import type { Caller } from '../../api/caller.ts'
import { errorBody } from '../../api/error-body.ts'
import type { HeldKeys } from '../../api/idempotency/in-flight.ts'
import { maxBodyBytes } from '../../api/request-body.ts'
import { type Admission, admit } from '../../api/request-context.ts'
import { type Clock, millisecondsOf } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { type Traced, traced } from '../../base/observability/tracing.ts'
import { Refusal, refuse } from '../../base/refusal.ts'
import { addressGroup } from './client-address.ts'
import type { Downloads } from './downloads.ts'
import { judge } from './error-response.ts'
import { type Exchange, openExchange, readingOnly, withoutBody } from './exchange.ts'
import { bodyRoom } from './memory-budget.ts'
import { type Allowance, rateLimit, secondsLeft } from './rate-limiter.ts'
import { clientRequestId, requestRow } from './request-log-row.ts'
import { countAnswer, knownMethod } from './response-metrics.ts'

/** What the edge uses. */
export interface EdgeUse {
  readonly keyring: Keyring
  readonly heldKeys: HeldKeys
  readonly requestLog: RequestLog
  readonly clock: Clock
  readonly log: Log
  readonly ratePerMinute: number
  readonly authFailuresPerMinute: number
  /** The routes. What they throw, and NotFoundError, comes through. */
  readonly dispatch: (request: Request) => Response | Promise<Response>
  readonly downloads: Downloads
  /** The methods of a path, for Allow; undefined: there is no such path. */
  readonly allowed: (path: string) => string | undefined
  /** The route of a path, as it is written; undefined: there is none. */
  readonly routeOf: (path: string) => string | undefined
}

/** Asks for the address of the client, while it is there. */
export type AddressOf = () => string

/**
 * What every request passes, in this order: its id, who asks (401), how often (429), then the routes (404, 403 and on).
 * Whatever comes of it gets the headers that every answer has. Never rejects.
 */
export function openEdge(use: EdgeUse): (request: Request, addressOf: AddressOf) => Promise<Response> {
  const organizations = rateLimit(use.ratePerMinute)
  const failures = rateLimit(use.authFailuresPerMinute)
  const room = bodyRoom()

  function authenticate(exchange: Exchange, addressOf: AddressOf): Promise<Caller> {
    return countingFailures(addressOf, () => use.keyring.authenticate(exchange.request.headers.get('authorization')))
  }

  /** Who shows no secret of ours is counted by address; past the limit, that is the answer. */
  async function countingFailures<Of>(addressOf: AddressOf, attempt: () => Of | Promise<Of>): Promise<Of> {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof Refusal && (error.status === 401 || error.detail.isFailedAttempt))
        requireFewFailures(addressGroup(addressOf()))
      throw error
    }
  }

  /** Outside /v1 a route lets in by a secret of its own, or anyone. */
  function dispatchOpen(exchange: Exchange, addressOf: AddressOf): Promise<Response> {
    if (!exchange.path.startsWith('/provider/')) requireBoundedBody(exchange.request)
    return countingFailures(addressOf, () => use.dispatch(exchange.routed))
  }

  function requireFewFailures(address: string): void {
    const nowMs = millisecondsOf(use.clock.now())
    const allowance = failures.take(address, nowMs)
    if (!allowance.isAllowed)
      throw limited('Too many requests from this address carried no valid API key or link.', allowance, nowMs)
  }

  function requireRate(exchange: Exchange, caller: Caller): void {
    const nowMs = millisecondsOf(use.clock.now())
    const allowance = organizations.take(caller.organizationId, nowMs)
    exchange.allowance = allowance
    if (!allowance.isAllowed)
      throw limited(`The organization may make ${allowance.limit} requests a minute.`, allowance, nowMs)
  }

  function admission(exchange: Exchange, caller: Caller): Admission {
    return {
      requestId: exchange.id,
      caller: exchange.request.method === 'HEAD' ? readingOnly(caller) : caller,
      takeRoom(bytes) {
        room.take(bytes)
        exchange.roomBytes += bytes
      },
      async reserve(key, body) {
        const { method } = exchange.request
        const target = exchange.path + exchange.query
        const taken = await use.heldKeys.take(key, { caller, method, target, body })
        if ('token' in taken) exchange.reservation = taken
        else exchange.replayed = taken
        return exchange.replayed
      },
      get reservation() {
        return exchange.reservation
      },
      noteEmail(id) {
        exchange.emailId = id
      },
    }
  }

  async function respond(exchange: Exchange, addressOf: AddressOf): Promise<Response> {
    if (exchange.isApi) {
      const caller = await authenticate(exchange, addressOf)
      exchange.caller = caller
      exchange.address = addressOf()
      requireRate(exchange, caller)
      admit(exchange.routed, admission(exchange, caller))
    }
    const response = await (exchange.isApi ? use.dispatch(exchange.routed) : dispatchOpen(exchange, addressOf))
    return exchange.request.method === 'HEAD' ? withoutBody(response) : use.downloads(response)
  }

  async function settle(exchange: Exchange, response: Response): Promise<void> {
    if (!exchange.reservation) return
    try {
      await use.heldKeys.settle(exchange.reservation, response.status, () => response.clone().text())
    } catch (error) {
      use.log.error(
        { request_id: exchange.id, err: error },
        'the end of a request was not noted for its idempotency key',
      )
    }
  }

  async function refused(exchange: Exchange, error: unknown): Promise<Response> {
    const { refusal, isOurs } = judge(error)
    if (isOurs) use.log.error({ request_id: exchange.id, err: error }, 'request failed')
    const { retryAfterSeconds } = refusal.detail
    const headers = new Headers()
    if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds))
    if (refusal.status === 401) headers.set('www-authenticate', 'Bearer')
    const allow = error instanceof NotFoundError ? use.allowed(exchange.path) : undefined
    if (allow !== undefined) headers.set('allow', allow)
    exchange.errorCode = refusal.code
    const response = Response.json(errorBody(refusal), { status: refusal.status, headers })
    return exchange.request.method === 'HEAD' ? withoutBody(response) : response
  }

  async function answer(exchange: Exchange, addressOf: AddressOf): Promise<Response> {
    let response: Response
    try {
      response = await respond(exchange, addressOf)
    } catch (error) {
      response = await refused(exchange, error)
    }
    await settle(exchange, response)
    room.giveBack(exchange.roomBytes)
    dress(response.headers, exchange)
    note(use, exchange, response.status)
    if (exchange.caller) use.requestLog.note(requestRow(exchange, exchange.caller, response.status))
    return response
  }

  return (request, addressOf) => {
    const exchange = openExchange(request, use.clock.now())
    return traced(spanOf(exchange, use.routeOf(exchange.path)), async note => {
      const response = await answer(exchange, addressOf)
      note({ 'http.response.status_code': response.status, 'mailroom.email_id': exchange.emailId })
      return response
    })
  }
}

/** Named as OpenTelemetry names what an HTTP server does; the path itself may hold secrets. */
function spanOf({ id, request }: Exchange, route: string | undefined): Traced {
  const method = knownMethod(request.method)
  return {
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    facts: { 'http.request.method': method, 'http.route': route, 'mailroom.request_id': id },
    traceparent: request.headers.get('traceparent') ?? undefined,
  }
}

function limited(message: string, allowance: Allowance, nowMs: number): Refusal {
  return refuse('rate_limited', { message, retryAfterSeconds: secondsLeft(allowance, nowMs) })
}

/**
 * Outside /v1 a route may read its body as it likes; here it is kept from being endless. The news of providers, who may
 * send theirs chunked, are counted by their route.
 */
function requireBoundedBody(request: Request): void {
  if (request.headers.has('transfer-encoding') || Number(request.headers.get('content-length') ?? 0) > maxBodyBytes)
    throw refuse('payload_too_large', { message: 'Declare a Content-Length of at most 16 MiB.' })
}

function dress(headers: Headers, { id, allowance }: Exchange): void {
  headers.set('x-request-id', id)
  headers.set('cache-control', 'no-store')
  if (!allowance) return
  headers.set('x-ratelimit-limit', String(allowance.limit))
  headers.set('x-ratelimit-remaining', String(allowance.remaining))
  headers.set('x-ratelimit-reset', String(allowance.resetsAt))
}

function note({ log, routeOf }: Pick<EdgeUse, 'log' | 'routeOf'>, exchange: Exchange, status: number): void {
  const seconds = (performance.now() - exchange.startedMs) / 1000
  const { method } = exchange.request
  const route = routeOf(exchange.path)
  countAnswer({ method, route, status, code: exchange.errorCode, seconds })
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
      idempotent_replay: exchange.replayed !== undefined || undefined,
    },
    'request answered',
  )
}
