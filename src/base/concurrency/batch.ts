/** How much one batch may hold and how many may be under way. */
export interface BatchLimits {
  readonly maxItems: number
  readonly maxInFlight: number
  /** How long a batch that follows one of several waits for company, in milliseconds; 0 or absent: not at all. */
  readonly gatherMs?: number
}

interface PendingCall<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Turns work on many items into a function of one, so that callers at the same time share round trips and commits.
 *
 * A call starts at once while fewer than `maxUnderWay` batches are under way; calls that come meanwhile gather and go
 * together, at most `maxItems` at a time, in the order they came. With one caller at a time each batch holds one item and
 * waits for nothing; only where batches have been of several does the next wait for `gatherMs`, as a batch costs much and
 * each further item little. What waits is bounded by the callers, who wait for it. `work` gives one result for each item,
 * in their order. When a batch of several throws, each of its items is tried alone, so that one item's fault is never
 * another's: `work` must leave nothing behind when it throws (a transaction does).
 */
export function batched<Item, Result>(
  limits: BatchLimits,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: PendingCall<Item, Result>[] = []
  let underWay = 0
  let lastSize = 0

  async function run(batch: readonly PendingCall<Item, Result>[]): Promise<void> {
    try {
      const results = await work(batch.map(pendingCall => pendingCall.item))
      if (results.length !== batch.length) throw new Error(`a batch of ${batch.length} gave ${results.length} results`)
      batch.forEach((pendingCall, i) => {
        pendingCall.resolve(results[i] as Result)
      })
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error)
      else for (const pendingCall of batch) await run([pendingCall])
    }
  }

  async function drain(): Promise<void> {
    if (underWay === limits.maxInFlight) return
    underWay++
    while (waiting.length > 0) {
      if (limits.gatherMs && lastSize > 1 && waiting.length < limits.maxItems) await Bun.sleep(limits.gatherMs)
      const batch = waiting.splice(0, limits.maxItems)
      lastSize = batch.length
      await run(batch)
    }
    underWay--
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      // A microtask lets the calls of this turn of the event loop go together.
      if ((waiting.length - 1) % limits.maxItems === 0) queueMicrotask(() => void drain())
    })
}
