import { setImmediate } from 'node:timers/promises'

/** How long one of these computations keeps others from the event loop, in milliseconds, beside its longest step. */
const maxBlockingMs = 2

/** Runs a computation whose steps end at its `yield`s, with turns of the event loop between them. Gives what it returns. */
export async function paced<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (let since = performance.now(); ; ) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - since < maxBlockingMs) continue
    await setImmediate()
    since = performance.now()
  }
}
