import { NotFoundError, ParseError, ValidationError } from 'elysia'
import { refuseInvalid, type SchemaViolation } from '../../api/validation.ts'
import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { Refusal, refuse } from '../../base/refusal.ts'

/** An error as the refusal that the client gets. `isServerFault`: the fault is ours, to be logged with its stack. */
export interface ClassifiedError {
  readonly refusal: Refusal
  readonly isServerFault: boolean
}

/** A schema as Elysia compiled it: that of the query or the path, which Elysia validates itself. */
interface CompiledSchema {
  Errors(value: unknown): Iterable<SchemaViolation>
}

/** The refusals of a request that failed because of a bug, or because the database or the disk is unavailable. */
export const serverFaultRefusals = ['internal_error', 'unavailable'] as const

/** What the client gets for an error that was thrown while its request was processed. */
export function classifyError(error: unknown): ClassifiedError {
  if (error instanceof Refusal)
    return { refusal: error, isServerFault: error.status === 500 && error.detail.cause !== undefined }
  // Elysia wraps what a parse hook throws.
  if (error instanceof ParseError) return classifyError(error.cause)
  if (error instanceof NotFoundError)
    return {
      refusal: refuse('not_found', { message: 'There is no operation with this method and path.' }),
      isServerFault: false,
    }
  // What cannot be an identifier, as it is written or because it is not UTF-8, identifies nothing.
  if (error instanceof ValidationError && error.type === 'params')
    return { refusal: refuse('not_found', { message: 'There is nothing with this path.' }), isServerFault: false }
  if (error instanceof ValidationError && error.type !== 'response') {
    const violations = (error.validator as unknown as CompiledSchema).Errors(error.value)
    return { refusal: refuseInvalid(violations, error.value, 'query'), isServerFault: false }
  }
  if (isDatabaseUnavailable(error) || isDiskError(error))
    return {
      refusal: refuse('unavailable', {
        message: 'The database or the disk is not available at the moment; try again.',
        retryAfterSeconds: 5,
        cause: error,
      }),
      isServerFault: true,
    }
  return {
    refusal: refuse('internal_error', { message: 'An internal error occurred; try again.', cause: error }),
    isServerFault: true,
  }
}

function isDiskError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
}
