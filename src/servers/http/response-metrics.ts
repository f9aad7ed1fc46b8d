import { counter, histogram } from '../../base/observability/metrics.ts'

const requestsTotal = counter('mailroom_http_requests_total', 'Requests that got a response.', [
  'method',
  'route',
  'status',
])

const requestSeconds = histogram(
  'mailroom_http_request_seconds',
  'Time from a request to its response.',
  ['method', 'route'],
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
)

const refusalsTotal = counter('mailroom_http_refusals_total', 'Refused requests and MCP tool calls, by error code.', [
  'code',
])

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method as a metric label: `other` for one that HTTP does not define. */
export function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other'
}

type Recorder = (seconds: number) => void

/** Cached: looking up the labels for each response costs more than counting it. */
const recorders = new Map<string, Recorder>()

/** What is counted of a response. */
export interface AnsweredRequest {
  readonly method: string
  /** The template, `/v1/emails/:id`; undefined: no route has the path. */
  readonly route: string | undefined
  readonly status: number
  /** The error code; undefined: the request was not refused. */
  readonly code: string | undefined
  readonly seconds: number
}

/** Counts a response. Unknown methods and paths, which a client can make up, create no labels. */
export function countResponse({ method, route = 'none', status, code, seconds }: AnsweredRequest): void {
  const known = knownMethod(method)
  const key = `${known} ${route} ${status}`
  let record = recorders.get(key)
  if (!record) {
    record = createRecorder(known, route, status)
    recorders.set(key, record)
  }
  record(seconds)
  if (code !== undefined) countRefusal(code)
}

/** Counts a refused request, or a refused tool call within one. */
export function countRefusal(code: string): void {
  refusalsTotal.inc({ code })
}

function createRecorder(method: string, route: string, status: number): Recorder {
  const count = requestsTotal.labels(method, route, String(status))
  const observer = requestSeconds.labels(method, route)
  return seconds => {
    count.inc()
    observer.observe(seconds)
  }
}
