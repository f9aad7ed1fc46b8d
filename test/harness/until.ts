const usualMs = 20_000
/** Between two polls: a twentieth of the time waited so far, within these limits. A poll is often a query. */
const minPollMs = 5
const maxPollMs = 25

export interface UntilOptions {
  /** What is waited for, for the error; the source of the condition where it is absent. */
  readonly what?: string
  /** Milliseconds; 20 seconds where it is absent. */
  readonly withinMs?: number
  /** More about the state, for the error. */
  readonly details?: () => unknown
}

type Falsy = false | 0 | 0n | '' | null | undefined

/** Polls the condition until its value is truthy, and returns that value. @throws Error when that takes too long */
export async function until<Value>(
  condition: () => Value | Promise<Value>,
  { what, withinMs = usualMs, details }: UntilOptions = {},
): Promise<Exclude<Value, Falsy>> {
  const start = performance.now()
  const pollMs = () => Math.min(Math.max((performance.now() - start) / 20, minPollMs), maxPollMs)
  for (const deadline = start + withinMs; ; await Bun.sleep(pollMs())) {
    const value = await condition()
    if (value) return value as Exclude<Value, Falsy>
    if (performance.now() < deadline) continue
    const state = details === undefined ? '' : `\n${await details()}`
    throw new Error(`not within ${withinMs} ms: ${what ?? condition}${state}`)
  }
}
