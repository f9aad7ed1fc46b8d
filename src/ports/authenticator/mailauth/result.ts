import type { AuthResult } from '../port.ts'

const results: ReadonlySet<string> = new Set<AuthResult>([
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
])

/** The result of checking one identifier, before its alignment is known. */
export interface CheckResult {
  readonly result: AuthResult
  /** The domain that was checked; null: there is none. */
  readonly domain: string | null
  readonly detail: string | null
}

/** A result code of mailauth; one that RFC 8601 does not define counts as permerror. */
export function toAuthResult(code: string): AuthResult {
  return results.has(code) ? (code as AuthResult) : 'permerror'
}

/** The detail of a check that threw. */
export function describeException(error: unknown): string {
  return `could not be evaluated: ${error instanceof Error ? error.message : String(error)}`
}
