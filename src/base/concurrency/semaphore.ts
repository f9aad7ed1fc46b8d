/** Gives the place back; calling it again does nothing. */
export type Release = () => void

/**
 * Lets at most `atOnce` through at a time, the others in the order they came. The function it gives waits for a place
 * and resolves to what gives it back, or to undefined when `signal` fired first.
 */
export function newSemaphore(atOnce: number): (signal?: AbortSignal) => Promise<Release | undefined> {
  const waiting = new Set<(release: Release) => void>()
  let taken = 0

  function release(): Release {
    let given = true
    return () => {
      if (!given) return
      given = false
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        next(release())
      } else taken--
    }
  }

  return signal => {
    if (signal?.aborted) return Promise.resolve(undefined)
    if (taken < atOnce) {
      taken++
      return Promise.resolve(release())
    }
    return new Promise(resolve => {
      const leave = () => {
        waiting.delete(enter)
        resolve(undefined)
      }
      const enter = (turn: Release) => {
        signal?.removeEventListener('abort', leave)
        resolve(turn)
      }
      waiting.add(enter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}

/** Does each piece of work in its turn: at most `atOnce` go on together. */
export function limitConcurrency(atOnce: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const turn = newSemaphore(atOnce)
  return async work => {
    const release = await turn()
    try {
      return await work()
    } finally {
      release?.()
    }
  }
}
