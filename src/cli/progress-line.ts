const quietMs = 2000
const everyMs = 1000

/** Tells on standard error how far a command is. */
export interface ProgressLine {
  /** Of what the command counts, `count` are done by now. */
  report(count: number): void
  /** No more is told. */
  end(): void
}

/** `unit`: what is counted, such as `messages`. What is over within two seconds says nothing. */
export function openProgressLine(unit: string): ProgressLine {
  const isTerminal = process.stderr.isTTY === true
  const startedAt = performance.now()
  let toldAt = startedAt + quietMs - everyMs
  let hasTold = false
  return {
    report(count) {
      const now = performance.now()
      if (now - toldAt < everyMs) return
      toldAt = now
      hasTold = true
      const rate = Math.round(count / ((now - startedAt) / 1000))
      const line = `mailroom: ${count} ${unit}, ${rate} a second`
      process.stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    end() {
      if (hasTold && isTerminal) process.stderr.write('\r\u001b[K')
    },
  }
}
