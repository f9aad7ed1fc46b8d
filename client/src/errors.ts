import type { components } from './generated/api.ts'

type ErrorFields = components['schemas']['Error']['error']

/** A machine code of the API's errors; `unexpected_response`: the answer was not one of Mailroom’s. */
export type ErrorCode = ErrorFields['code'] | 'unexpected_response'

/** What a request was answered with that is not a success. */
export class MailroomError extends Error {
  override readonly name = 'MailroomError'
  /** The HTTP status. */
  readonly status: number
  readonly code: ErrorCode
  /** What has to change before the call can succeed, such as `verify_domain`; undefined: the answer was not Mailroom’s. */
  readonly requirement: ErrorFields['requirement'] | undefined
  /** The parameter at fault, such as `to[3]`. */
  readonly param: string | undefined
  readonly reason: string | undefined
  /** How to resolve it. */
  readonly resolution: string | undefined
  /** May the same call succeed later? */
  readonly retryable: boolean
  /** Seconds to wait before that (Retry-After). */
  readonly retryAfter: number | undefined
  /** Names the request in Mailroom’s logs; undefined: the answer was not Mailroom’s. */
  readonly requestId: string | undefined
  /** For `cursor_expired`: from where events are still kept. */
  readonly oldestAfter: string | undefined

  constructor(response: Response, body: unknown) {
    const error = errorIn(body)
    super(
      error?.message ??
        `The server answered with status ${response.status}, and not as Mailroom does; is the URL right?`,
    )
    this.status = response.status
    this.code = error?.code ?? 'unexpected_response'
    this.requirement = error?.requirement
    this.param = error?.param
    this.reason = error?.reason
    this.resolution = error?.resolution
    this.retryable = error?.retryable ?? response.status >= 500
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined
    this.requestId = response.headers.get('x-request-id') ?? undefined
    this.oldestAfter = error?.oldest_after
  }
}

function errorIn(body: unknown): ErrorFields | undefined {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof error === 'object' && error !== null && 'code' in error ? (error as ErrorFields) : undefined
}

/** There was no whole answer: the connection failed, or took too long. `cause` is what `fetch` threw. */
export class MailroomConnectionError extends Error {
  override readonly name = 'MailroomConnectionError'
  /** Did it take longer than `timeoutMs`? */
  readonly isTimeout: boolean

  constructor(message: string, isTimeout: boolean, cause?: unknown) {
    super(message, { cause })
    this.isTimeout = isTimeout
  }
}
