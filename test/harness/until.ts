const longestMs = 20_000

/** Asks again and again until the answer is true. @throws when that takes too long */
export async function until(ask: () => unknown, ms = longestMs): Promise<void> {
  for (const deadline = Date.now() + ms; !(await ask()); await Bun.sleep(10))
    if (Date.now() > deadline) throw new Error(`did not come true within ${ms} ms: ${ask}`)
}
