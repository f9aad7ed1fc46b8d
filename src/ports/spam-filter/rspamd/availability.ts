/** Whether rspamd answers, as far as is known. */
export interface Availability {
  isAvailable(): boolean
  /** It did not answer: it is asked whether it is there, at once and then every second, until it is. */
  failed(): void
}

const probeIntervalMs = 1000

/** `probe` never rejects. Nothing is probed while it answers. */
export function newAvailability(probe: () => Promise<boolean>): Availability {
  let isAvailable = true

  async function probeUntilItAnswers(): Promise<void> {
    while (!(await probe())) await pause(probeIntervalMs)
    isAvailable = true
  }

  return {
    isAvailable: () => isAvailable,
    failed() {
      if (!isAvailable) return
      isAvailable = false
      void probeUntilItAnswers()
    },
  }
}

/** A pause that keeps no process alive. */
function pause(ms: number): Promise<void> {
  return new Promise(resolve => {
    setTimeout(resolve, ms).unref()
  })
}
