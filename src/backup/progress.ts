/** Reports the progress of long work. */
export interface ProgressReporter {
  /** `of`: the total; undefined: not known. */
  report(what: string, count: number, of?: number): void
}

const intervalMs = 10_000

/** Prints a line to standard error every ten seconds; short work prints none. */
export function progressOnStderr(): ProgressReporter {
  let next = Date.now() + intervalMs
  return {
    report(what, count, of) {
      if (Date.now() < next) return
      next = Date.now() + intervalMs
      process.stderr.write(`  ${what}: ${count}${of === undefined ? '' : ` of ${of}`}\n`)
    },
  }
}
