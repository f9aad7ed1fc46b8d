import { NotFoundError, ParseError, ValidationError } from 'elysia'
import { refuseInvalid, type SchemaViolation } from '../../api/validation.ts'
import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { Refusal, refuse } from '../../base/refusal.ts'

/** An error as a refusal, and whether it is our fault, to be logged with its stack. */
export interface ClassifiedError {
  readonly refusal: Refusal
  readonly isServerFault: boolean
}

/** A compiled schema: that of the query or the path, which Elysia checks itself. */
interface Faulted {
  Errors(value: unknown): Iterable<SchemaViolation>
}

/** The refusals of a request that failed because of a bug, or because the database or the disk is unavailable. */
export const serverFaultRefusals = ['internal_error', 'unavailable'] as const

/** What the client is told about whatever was thrown while its request was answered. */
export function classifyError(error: unknown): ClassifiedError {
  if (error instanceof Refusal)
    return { refusal: error, isServerFault: error.status === 500 && error.detail.cause !== undefined }
  // Elysia wraps what a parse hook throws.
  if (error instanceof ParseError) return classifyError(error.cause)
  if (error instanceof NotFoundError)
    return {
      refusal: refuse('not_found', { message: 'There is no such path, or not with this method.' }),
      isServerFault: false,
    }
  if (error instanceof ValidationError && error.type !== 'response')
    return {
      refusal: refuseInvalid((error.validator as unknown as Faulted).Errors(error.value), error.value),
      isServerFault: false,
    }
  if (isDatabaseUnavailable(error) || isDiskError(error))
    return {
      refusal: refuse('unavailable', {
        message: 'The service cannot reach its database or its disk at the moment; try again.',
        retryAfterSeconds: 5,
        cause: error,
      }),
      isServerFault: true,
    }
  return {
    refusal: refuse('internal_error', { message: 'Something went wrong on our side; try again.', cause: error }),
    isServerFault: true,
  }
}

function isDiskError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
}
