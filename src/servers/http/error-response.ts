import { NotFoundError, ParseError, ValidationError } from 'elysia'
import { type Fault, refuseFaults } from '../../api/validation.ts'
import { isDatabaseTrouble } from '../../base/database/database.ts'
import { Refusal, refuse } from '../../base/refusal.ts'

/** An error as a refusal, and whether it is our fault, to be logged with its stack. */
export interface Judged {
  readonly refusal: Refusal
  readonly isOurs: boolean
}

/** A compiled schema: that of the query or the path, which Elysia checks itself. */
interface Faulted {
  Errors(value: unknown): Iterable<Fault>
}

/** What the client is told about whatever was thrown while its request was answered. */
export function judge(error: unknown): Judged {
  if (error instanceof Refusal)
    return { refusal: error, isOurs: error.status === 500 && error.detail.cause !== undefined }
  // Elysia wraps what a parse hook throws.
  if (error instanceof ParseError) return judge(error.cause)
  if (error instanceof NotFoundError)
    return {
      refusal: refuse('not_found', { message: 'There is no such path, or not with this method.' }),
      isOurs: false,
    }
  if (error instanceof ValidationError && error.type !== 'response')
    return {
      refusal: refuseFaults((error.validator as unknown as Faulted).Errors(error.value), error.value),
      isOurs: false,
    }
  if (isDatabaseTrouble(error) || isDiskTrouble(error))
    return {
      refusal: refuse('unavailable', {
        message: 'The service cannot reach its database or its disk at the moment; try again.',
        retryAfterSeconds: 5,
        cause: error,
      }),
      isOurs: true,
    }
  return {
    refusal: refuse('internal_error', { message: 'Something went wrong on our side; try again.', cause: error }),
    isOurs: true,
  }
}

function isDiskTrouble(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
}
