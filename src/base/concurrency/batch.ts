import { isDatabaseUnavailable } from '../database/database.ts'
import { CommitUnknownError, DatabaseTimeoutError } from '../database/database-errors.ts'
import { newSemaphore } from './semaphore.ts'

export interface BatchLimits {
  /** Items in one batch, at most. */
  readonly maxItems: number
  /** Batches in flight at once, at most; as many more may be in their last part (see {@link batched}). */
  readonly maxInFlight: number
  /**
   * How long a batch that follows one of several items waits for more items at most, in milliseconds; absent or 0: not at all.
   * It waits for as many as were in the one before, or came meanwhile: for callers that come back with their next item. For work
   * with one batch in flight.
   */
  readonly gatherMs?: number
  /**
   * Does each batch have a power of two of items? What is over goes in the next one. For work whose SQL differs by the number of
   * items: so there are few different statements, which stay prepared. By default no.
   */
  readonly inPowersOfTwo?: boolean
}

interface PendingCall<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Turns work on many items into a function of one item, so that concurrent callers share round trips and commits.
 *
 * A call starts at once while fewer than `maxInFlight` batches are in flight; calls that come meanwhile go together in the
 * next batch, at most `maxItems` of them, in order. With one caller at a time each batch holds one item and waits for
 * nothing. Only after a batch of several items does the next wait `gatherMs` for more, since a batch costs much and each
 * further item little. The queue is bounded by the callers, who wait for their results.
 *
 * Work whose last part is a wait, such as a commit, calls `proceed` before it: then the next batch begins meanwhile, and no third
 * one. Without that it begins when the one before has ended.
 *
 * `work` gives one result for each item, in order. When a batch of several items throws, each item is tried alone, so that
 * one item cannot fail the others: `work` must leave nothing behind when it throws (a transaction does not). While the
 * database is unavailable all of a batch fail with it, and where it was silent those that waited for the batch as well:
 * each would only wait as long again.
 */
export function batched<Item, Result>(
  limits: BatchLimits,
  work: (items: readonly Item[], proceed: () => void) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const queue: PendingCall<Item, Result>[] = []
  const acquireCommit = newSemaphore(limits.maxInFlight)
  let inFlight = 0
  let lastSize = 0
  /** The callers of the batch that ended last, who may come back, and those who waited then. */
  let expected = 0
  /** Ends the wait for more items once there are so many. */
  let gathering: { readonly wanted: number; readonly end: () => void } | undefined

  async function run(calls: readonly PendingCall<Item, Result>[], proceed: () => void): Promise<void> {
    try {
      const items = calls.map(call => call.item)
      const results = await work(items, proceed)
      if (results.length !== calls.length) throw new Error(`a batch of ${calls.length} gave ${results.length} results`)
      // Now, while none of the callers is back.
      expected = calls.length + queue.length
      calls.forEach((call, i) => {
        call.resolve(results[i] as Result)
      })
    } catch (error) {
      if (error instanceof DatabaseTimeoutError || error instanceof CommitUnknownError) rejectQueue(error)
      if (calls.length === 1 || isDatabaseUnavailable(error)) for (const call of calls) call.reject(error)
      else for (const call of calls) await run([call], () => undefined)
    }
  }

  function rejectQueue(cause: Error): void {
    for (const call of queue.splice(0))
      call.reject(new DatabaseTimeoutError('the database did not answer what was asked before', { cause }))
  }

  async function drain(): Promise<void> {
    if (inFlight === limits.maxInFlight) return
    inFlight++
    while (queue.length > 0) {
      if (limits.gatherMs && lastSize > 1) await gather(limits.gatherMs, batchSize(expected, limits))
      const calls = queue.splice(0, batchSize(queue.length, limits))
      lastSize = calls.length
      await runUntilProceeding(calls)
    }
    inFlight--
  }

  /** Resolves once the next batch may begin. */
  async function runUntilProceeding(calls: readonly PendingCall<Item, Result>[]): Promise<void> {
    const turn = Promise.withResolvers<void>()
    let isCommitting = true
    const ended = run(calls, turn.resolve).finally(() => {
      isCommitting = false
      turn.resolve()
    })
    await turn.promise
    if (!isCommitting) return
    const release = await acquireCommit()
    void ended.finally(release)
  }

  async function gather(maxMs: number, wanted: number): Promise<void> {
    if (queue.length >= wanted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxMs)
    gathering = { wanted, end: resolve }
    await promise
    gathering = undefined
    clearTimeout(timer)
  }

  return item =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, resolve, reject })
      if (gathering && queue.length >= gathering.wanted) gathering.end()
      // In a microtask, so that the calls of one turn of the event loop share a batch.
      if ((queue.length - 1) % limits.maxItems === 0) queueMicrotask(() => void drain())
    })
}

function batchSize(waiting: number, { maxItems, inPowersOfTwo }: BatchLimits): number {
  const size = Math.min(waiting, maxItems)
  return inPowersOfTwo ? 2 ** Math.floor(Math.log2(size)) : size
}
