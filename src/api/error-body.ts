import type { Refusal } from '../base/refusal.ts'

/** The JSON body of an error response (SPEC section 7). What does not apply is absent. */
export interface ErrorBody {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly requirement: string
    readonly reason?: string
    readonly resolution?: string
    readonly retryable: boolean
    readonly param?: string
    /** The cursor to go on from, where one has expired. */
    readonly oldest_after?: string
  }
}

/** The error body of a refusal. Its cause is for the log and never shown. */
export function errorBody(refusal: Refusal): ErrorBody {
  const { reason, resolution, param, oldestAfter } = refusal.detail
  return {
    error: {
      code: refusal.code,
      message: refusal.message,
      requirement: refusal.requirement,
      ...(reason === undefined ? {} : { reason }),
      ...(resolution === undefined ? {} : { resolution }),
      retryable: refusal.retryable,
      ...(param === undefined ? {} : { param }),
      ...(oldestAfter === undefined ? {} : { oldest_after: oldestAfter }),
    },
  }
}
