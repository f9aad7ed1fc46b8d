/** An auto-reset event for one waiter: a notification that nobody waits for ends the next wait at once. */
export interface Wakeup {
  notify(): void
  /** Resolves when it is notified, or after `ms`. */
  wait(ms: number): Promise<void>
}

export function newWakeup(): Wakeup {
  let isNotified = false
  let wake: (() => void) | undefined
  return {
    notify() {
      isNotified = true
      wake?.()
    },
    async wait(ms) {
      if (!isNotified)
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      wake = undefined
      isNotified = false
    },
  }
}
