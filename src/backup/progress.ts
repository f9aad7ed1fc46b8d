/** Tells how far a long work has come. */
export interface ProgressReporter {
  /** `of`: how many there will be; undefined: nobody knows. */
  report(what: string, count: number, of?: number): void
}

const everyMs = 10_000

/** A line on standard error every ten seconds; a work that is done sooner says nothing. */
export function progressOnStderr(): ProgressReporter {
  let next = Date.now() + everyMs
  return {
    report(what, count, of) {
      if (Date.now() < next) return
      next = Date.now() + everyMs
      process.stderr.write(`  ${what}: ${count}${of === undefined ? '' : ` of ${of}`}\n`)
    },
  }
}
