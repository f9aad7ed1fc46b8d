/**
 * Gives the result of `load`, at most `maxAgeMs` old: who asks while it loads waits for the same one. A failure is not kept.
 */
export function cachedResult<Result>(maxAgeMs: number, load: () => Promise<Result>): () => Promise<Result> {
  let loaded: Promise<Result> | undefined
  let validUntilMs = 0
  return () => {
    if (loaded && performance.now() < validUntilMs) return loaded
    const loading = load()
    loaded = loading
    // Until it is there: however long it takes, it is loaded once.
    validUntilMs = Number.POSITIVE_INFINITY
    loading.then(
      () => {
        validUntilMs = performance.now() + maxAgeMs
      },
      () => {
        validUntilMs = 0
      },
    )
    return loading
  }
}
