const signals = ['SIGINT', 'SIGTERM'] as const

/** Resolves at the first SIGINT (Ctrl-C) or SIGTERM. A second one exits at once. */
export function untilShutdownSignal(): Promise<void> {
  return new Promise(done => {
    let isReceived = false
    for (const signal of signals) {
      process.on(signal, () => {
        if (isReceived) process.exit(1)
        isReceived = true
        done()
      })
    }
  })
}
