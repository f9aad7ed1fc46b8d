/** Releases what was acquired; calling it again does nothing. */
export type Release = () => void

/**
 * A FIFO semaphore of `size` permits. The function that it gives, `acquire(signal)`, waits for a permit and resolves to the
 * function that releases it, or to undefined when `signal` aborted first.
 */
export function newSemaphore(size: number): (signal?: AbortSignal) => Promise<Release | undefined> {
  const queue = new Set<(release: Release) => void>()
  let acquired = 0

  function newRelease(): Release {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      const [next] = queue
      if (next) {
        queue.delete(next)
        next(newRelease())
      } else acquired--
    }
  }

  return signal => {
    if (signal?.aborted) return Promise.resolve(undefined)
    if (acquired < size) {
      acquired++
      return Promise.resolve(newRelease())
    }
    return new Promise(resolve => {
      const giveUp = () => {
        queue.delete(enter)
        resolve(undefined)
      }
      const enter = (release: Release) => {
        signal?.removeEventListener('abort', giveUp)
        resolve(release)
      }
      queue.add(enter)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
}

/** A function that runs work, at most `size` pieces at once, the others in order. */
export function limitConcurrency(size: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const acquire = newSemaphore(size)
  return async work => {
    const release = await acquire()
    try {
      return await work()
    } finally {
      release?.()
    }
  }
}
