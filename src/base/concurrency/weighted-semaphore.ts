import type { Release } from './semaphore.ts'

/** A FIFO semaphore whose permits are units of something, such as bytes: each caller acquires as many as it needs. */
export interface WeightedSemaphore {
  /** Waits for `units`, or for all of them where `units` is more than there are. Gives the function that releases them. */
  acquire(units: number): Promise<Release>
}

/** @param total the units that there are */
export function newWeightedSemaphore(total: number): WeightedSemaphore {
  const queue: { readonly units: number; readonly start: () => void }[] = []
  let free = total

  function startNext(): void {
    for (let next = queue[0]; next && next.units <= free; next = queue[0]) {
      queue.shift()
      free -= next.units
      next.start()
    }
  }

  return {
    acquire(wanted) {
      const units = Math.min(wanted, total)
      const { promise, resolve } = Promise.withResolvers<Release>()
      let isReleased = false
      const release = () => {
        if (!isReleased) free += units
        isReleased = true
        startNext()
      }
      queue.push({ units, start: () => resolve(release) })
      startNext()
      return promise
    },
  }
}
