import { counter, histogram } from '../../base/observability/metrics.ts'

const answered = counter('mailroom_http_requests_total', 'Requests that were answered.', ['method', 'route', 'status'])

const answerSeconds = histogram(
  'mailroom_http_request_seconds',
  'How long requests take to be answered.',
  ['method', 'route'],
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
)

const refused = counter(
  'mailroom_http_refusals_total',
  'Requests and calls of tools that were refused, by the code of the error.',
  ['code'],
)

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method, of those that HTTP knows; else `other`. */
export function knownMethod(method: string): string {
  return methods.has(method) ? method : 'other'
}

type Note = (seconds: number) => void

/** Kept ready: to look the labels up at each answer costs more than to count it. */
const notes = new Map<string, Note>()

/** An answer as it is counted. */
export interface AnsweredRequest {
  readonly method: string
  /** As it is written, `/v1/emails/:id`; undefined: the path belongs to none. */
  readonly route: string | undefined
  readonly status: number
  /** Of the refusal; undefined: it was none. */
  readonly code: string | undefined
  readonly seconds: number
}

/** Counts an answer. What a client may write as it likes, the method and the path, makes no labels of its own. */
export function countResponse({ method, route = 'none', status, code, seconds }: AnsweredRequest): void {
  const known = knownMethod(method)
  const key = `${known} ${route} ${status}`
  let note = notes.get(key)
  if (!note) {
    note = noteOf(known, route, status)
    notes.set(key, note)
  }
  note(seconds)
  if (code !== undefined) countRefusal(code)
}

/** Counts what was refused: a request, or a call of a tool within one. */
export function countRefusal(code: string): void {
  refused.inc({ code })
}

function noteOf(method: string, route: string, status: number): Note {
  const count = answered.labels(method, route, String(status))
  const observer = answerSeconds.labels(method, route)
  return seconds => {
    count.inc()
    observer.observe(seconds)
  }
}
