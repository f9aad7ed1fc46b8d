/** The body of the server's errors (the same on every route). */
export interface ErrorBody {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly requirement: string
    readonly reason?: string
    readonly resolution?: string
    readonly retryable: boolean
    readonly param?: string
  }
}

/** The server refused, in its own words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** From the server's closed catalogue: `domain_not_verified`. */
  readonly code: string
  /** The rule that is not met. */
  readonly requirement: string
  readonly reason: string | undefined
  /** What to do about it. */
  readonly resolution: string | undefined
  readonly isRetryable: boolean
  /** The field of the request that is wrong: `name`, `to[2]`. */
  readonly param: string | undefined
  /** For the operator, who finds it in the log. */
  readonly requestId: string | null

  constructor(status: number, { error }: ErrorBody, requestId: string | null) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.requirement = error.requirement
    this.reason = error.reason
    this.resolution = error.resolution
    this.isRetryable = error.retryable
    this.param = error.param
    this.requestId = requestId
  }
}

/** The server did not answer, or something between us and it answered for it. */
export class ServerAwayError extends Error {
  override readonly name = 'ServerAwayError'
}

/** The message of a refusal for the field `param`, for `error` of that field; null: it concerns something else. */
export function errorOf(error: unknown, param: string): string | null {
  return error instanceof ApiError && error.param === param ? error.message : null
}

/** Is this the refusal with this code? */
export function isRefusal(error: unknown, code: string): error is ApiError {
  return error instanceof ApiError && error.code === code
}
