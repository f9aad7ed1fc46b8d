/** A result that is loaded when it is asked for, and kept for a while. */
export interface CachedResult<Result> {
  (): Promise<Result>
  /** The next call loads it again: what it tells has been changed. */
  forget(): void
}

/**
 * Gives the result of `load`, at most `maxAgeMs` old: who asks while it loads waits for the same one. A failure is not kept.
 */
export function cachedResult<Result>(maxAgeMs: number, load: () => Promise<Result>): CachedResult<Result> {
  let current: { readonly result: Promise<Result>; validUntilMs: number } | undefined
  const get = () => {
    if (current && performance.now() < current.validUntilMs) return current.result
    // Until it is there: however long it takes, it is loaded once.
    const loading = { result: load(), validUntilMs: Number.POSITIVE_INFINITY }
    current = loading
    loading.result.then(
      () => {
        loading.validUntilMs = performance.now() + maxAgeMs
      },
      () => {
        loading.validUntilMs = 0
      },
    )
    return loading.result
  }
  return Object.assign(get, {
    forget() {
      current = undefined
    },
  })
}
