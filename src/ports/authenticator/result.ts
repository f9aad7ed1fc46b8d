import type { Result } from './port.ts'

const results: ReadonlySet<string> = new Set<Result>([
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
export interface Checked {
  readonly result: Result
  /** Whom it speaks of; null where it says nothing of anyone. */
  readonly domain: string | null
  readonly detail: string | null
}

/** mailauth's word for a result; one that RFC 8601 does not have is a permerror. */
export function resultOf(word: string): Result {
  return results.has(word) ? (word as Result) : 'permerror'
}

/** What is left to say of a check that threw. */
export function whyItThrew(error: unknown): string {
  return `could not be evaluated: ${error instanceof Error ? error.message : String(error)}`
}
