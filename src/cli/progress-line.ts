const quietMs = 2000
const everyMs = 1000

/** Shows the progress of a command on standard error. */
export interface ProgressLine {
  /** `count` are done so far. */
  report(count: number): void
  /** Removes the line from a terminal. */
  end(): void
}

/** `unit`: what is counted, such as `messages`. A command that takes less than two seconds shows nothing. */
export function openProgressLine(unit: string): ProgressLine {
  const isTerminal = process.stderr.isTTY === true
  const startedAt = performance.now()
  let shownAt = startedAt + quietMs - everyMs
  let isShown = false
  return {
    report(count) {
      const now = performance.now()
      if (now - shownAt < everyMs) return
      shownAt = now
      isShown = true
      const rate = Math.round(count / ((now - startedAt) / 1000))
      const line = `mailroom: ${count} ${unit}, ${rate} a second`
      process.stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    end() {
      if (isShown && isTerminal) process.stderr.write('\r\u001b[K')
    },
  }
}
