import type { Log } from '../../base/observability/log.ts'
import type { SpanOptions } from '../../base/observability/tracing.ts'
import type { PendingRequest } from './pending-request.ts'
import { clientRequestId } from './request-log-row.ts'
import { countResponse, knownMethod } from './response-metrics.ts'

/** What {@link recordResponse} depends on. */
export interface ObservationDeps {
  readonly log: Log
  /** The template of a path's route (`/v1/emails/:id`); undefined: no route has the path. */
  readonly routeTemplate: (path: string) => string | undefined
}

/** The span of a request. Named by OpenTelemetry's conventions for HTTP servers; by the route, since the path itself may hold secrets. */
export function spanOf({ id, request }: PendingRequest, route: string | undefined): SpanOptions {
  const method = knownMethod(request.method)
  return {
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': route, 'mailroom.request_id': id },
    traceparent: request.headers.get('traceparent') ?? undefined,
  }
}

/** The template of the request's route; undefined: no route has its path. */
export function templateOf(
  { target }: PendingRequest,
  deps: Pick<ObservationDeps, 'routeTemplate'>,
): string | undefined {
  if (target.audience === 'file') return '/app/*'
  const template = deps.routeTemplate(target.routedPath)
  return target.audience === 'member' && template !== undefined ? `/app/api${template}` : template
}

/** Counts and logs a response. */
export function recordResponse(deps: ObservationDeps, pending: PendingRequest, status: number) {
  const { log } = deps
  const seconds = (performance.now() - pending.startedMs) / 1000
  const { method } = pending.request
  const route = templateOf(pending, deps)
  countResponse({ method, route, status, code: pending.errorCode, seconds })
  // A success is logged at debug only, unless it created an email: its way through the log begins here.
  const level = status < 400 && pending.emailId === undefined ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level](
    {
      request_id: pending.id,
      client_request_id: clientRequestId(pending.request) ?? undefined,
      method,
      route,
      status,
      duration_ms: Math.round(seconds * 10_000) / 10,
      api_key_id: pending.caller?.keyId ?? undefined,
      user_id: pending.session?.userId,
      email_id: pending.emailId,
      error_code: pending.errorCode,
      idempotent_replay: pending.replayedResponse !== undefined || undefined,
    },
    'request answered',
  )
}
