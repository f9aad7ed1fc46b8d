/** Wakes whoever waits. A ring that nobody hears is heard by the next to wait. */
export interface Wakeup {
  notify(): void
  /** Resolves when it rings, or after `ms`. */
  wait(ms: number): Promise<void>
}

export function newWakeup(): Wakeup {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    notify() {
      isRung = true
      wake?.()
    },
    async wait(ms) {
      if (!isRung)
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      wake = undefined
      isRung = false
    },
  }
}
