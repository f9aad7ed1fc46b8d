/** Tells how far a long work has come. */
export interface Progress {
  /** `of`: how many there will be; undefined: nobody knows. */
  at(what: string, count: number, of?: number): void
}

const everyMs = 10_000

/** A line on standard error every ten seconds; a work that is done sooner says nothing. */
export function progressOnStderr(): Progress {
  let next = Date.now() + everyMs
  return {
    at(what, count, of) {
      if (Date.now() < next) return
      next = Date.now() + everyMs
      process.stderr.write(`  ${what}: ${count}${of === undefined ? '' : ` of ${of}`}\n`)
    },
  }
}
