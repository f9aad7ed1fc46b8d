/** Ends the use of a slot; calling it again does nothing. */
type ReleaseSlot = () => void

/**
 * Slots that are given round robin: while all are taken, the flow (an organization) that waits gets its next slot only after
 * each other flow that waits, so that none with many endpoints holds up the others.
 */
export class FairSlots {
  private readonly size: number
  private readonly maxPerFlow: number
  private taken = 0
  private readonly takenByFlow = new Map<string, number>()
  /** In the order in which they get their next slot. */
  private readonly waiting = new Map<string, (() => void)[]>()

  /** @param maxPerFlow how many one flow may have at most, also when nobody else waits */
  constructor(size: number, maxPerFlow: number) {
    this.size = size
    this.maxPerFlow = maxPerFlow
  }

  /** Resolves, once the flow has a slot, to the function that gives it back. */
  async acquire(flow: string): Promise<ReleaseSlot> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const queue = this.waiting.get(flow)
    if (queue) queue.push(resolve)
    else this.waiting.set(flow, [resolve])
    this.grant()
    await promise
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.taken--
      this.count(flow, -1)
      this.grant()
    }
  }

  private grant(): void {
    while (this.taken < this.size) {
      const flow = this.nextFlow()
      if (flow === undefined) return
      const queue = this.waiting.get(flow) ?? []
      const enter = queue.shift()
      // Behind the others.
      this.waiting.delete(flow)
      if (queue.length > 0) this.waiting.set(flow, queue)
      this.taken++
      this.count(flow, 1)
      enter?.()
    }
  }

  private nextFlow(): string | undefined {
    for (const flow of this.waiting.keys()) if ((this.takenByFlow.get(flow) ?? 0) < this.maxPerFlow) return flow
    return undefined
  }

  private count(flow: string, change: 1 | -1): void {
    const count = (this.takenByFlow.get(flow) ?? 0) + change
    if (count === 0) this.takenByFlow.delete(flow)
    else this.takenByFlow.set(flow, count)
  }
}
