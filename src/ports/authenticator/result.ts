import type { AuthResult } from './port.ts'

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

/** One identifier that was checked, before its alignment is known. */
export interface CheckResult {
  readonly result: AuthResult
  /** Whom it speaks of; null where it says nothing of anyone. */
  readonly domain: string | null
  readonly detail: string | null
}

/** mailauth's word for a result; one that RFC 8601 does not have is a permerror. */
export function toAuthResult(word: string): AuthResult {
  return results.has(word) ? (word as AuthResult) : 'permerror'
}

/** What is left to say of a check that threw. */
export function describeException(error: unknown): string {
  return `could not be evaluated: ${error instanceof Error ? error.message : String(error)}`
}
