import type { Instant } from '../../../base/clock.ts'
import type { DoctorResult } from '../run-checks.ts'

/** A run of doctor. */
export interface DoctorRun {
  readonly at: Instant
  /** Only the checks that ask the database, clamd and files. */
  readonly isQuick: boolean
  readonly results: readonly DoctorResult[]
}

/** The last runs of doctor in this process. */
export interface LatestResults {
  record(run: DoctorRun): void
  /** The last run of all checks and the last quick one: of each check the newer result. null: none has run yet. */
  current(): DoctorRun | null
}

export function newLatestResults(): LatestResults {
  let full: DoctorRun | null = null
  let quick: DoctorRun | null = null
  return {
    record(run) {
      if (run.isQuick) quick = run
      else full = run
    },
    current() {
      if (!full || !quick) return full ?? quick
      if (full.at >= quick.at) return full
      const fresh = new Set(quick.results.map(result => result.name))
      const older = full.results.filter(result => !fresh.has(result.name))
      return { at: quick.at, isQuick: false, results: [...quick.results, ...older] }
    },
  }
}
