/** How long responses took, in milliseconds. */
export interface Latency {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/**
 * Requests a page every `intervalMs` until `end` resolves, whether the one before has been answered or not. A request counts
 * from the time at which it was due, so that a server that stops for a second is late for all of that second.
 * @throws Error when a response is not 200
 */
export async function measureLatency(
  url: string,
  key: string,
  intervalMs: number,
  end: Promise<unknown>,
): Promise<Latency> {
  const latencies: number[] = []
  const pending: Promise<void>[] = []
  const request = async (dueAt: number) => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    await response.bytes()
    if (response.status !== 200) throw new Error(`expected 200, got ${response.status}`)
    latencies.push(performance.now() - dueAt)
  }
  let isOver = false
  void end.then(() => {
    isOver = true
  })
  for (let dueAt = performance.now(); !isOver; dueAt += intervalMs) {
    await Bun.sleep(Math.max(0, dueAt - performance.now()))
    pending.push(request(dueAt))
  }
  await Promise.all(pending)
  return percentiles(latencies)
}

function percentiles(latencies: readonly number[]): Latency {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
}
