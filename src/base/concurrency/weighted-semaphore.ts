/** Shares out a number of units, such as slots or bytes, in the order in which they are asked for. */
export interface WeightedSemaphore {
  /** Waits for `units`; more than there are in all are taken as all. Gives the function that returns them. */
  acquire(units: number): Promise<() => void>
}

export function newWeightedSemaphore(total: number): WeightedSemaphore {
  const waiting: { readonly units: number; readonly start: () => void }[] = []
  let free = total
  const startNext = () => {
    for (let next = waiting[0]; next && next.units <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.units
      next.start()
    }
  }
  return {
    acquire(asked) {
      const units = Math.min(asked, total)
      const { promise, resolve } = Promise.withResolvers<() => void>()
      let isTaken = true
      const giveBack = () => {
        if (isTaken) free += units
        isTaken = false
        startNext()
      }
      waiting.push({ units, start: () => resolve(giveBack) })
      startNext()
      return promise
    },
  }
}
