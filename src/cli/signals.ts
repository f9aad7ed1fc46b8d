const signals = ['SIGINT', 'SIGTERM'] as const

/** Resolves when this process is told to end (Ctrl-C, SIGTERM). Told again, it ends at once. */
export function untilShutdownSignal(): Promise<void> {
  return new Promise(done => {
    let isTold = false
    for (const signal of signals) {
      process.on(signal, () => {
        if (isTold) process.exit(1)
        isTold = true
        done()
      })
    }
  })
}
