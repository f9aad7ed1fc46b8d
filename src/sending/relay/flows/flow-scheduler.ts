import { type FlowKey, flowName } from '../outbox.ts'
import { type FlowSpeed, FlowSpeeds, slowMs } from './flow-speeds.ts'

/** A connection for one submission. */
export interface Slot {
  /** Runs the submission itself: how long it takes is how slow its flow is. */
  readonly time: <Result>(submit: () => Promise<Result>) => Promise<Result>
}

interface WaitingWork {
  readonly start: () => Promise<void>
  readonly giveUp: () => void
}

interface ScheduledFlow {
  readonly key: FlowKey
  readonly waiting: WaitingWork[]
  running: number
  /** When it last got a connection, or came, as a number that grows. */
  servedAt: number
}

/** How many connections flows may have that are slow, and those together with flows of which nothing is known. */
interface SharedLimits {
  readonly slow: number
  readonly slowOrUnknown: number
}

/**
 * Gives the connections to the flows that wait for one: the next goes to the flow that has the fewest, and among these to
 * the one that has waited longest, so that no backlog keeps another flow waiting.
 *
 * Where a submission takes seconds, the next connection comes too late for others. So a tenth of the connections, or one, is
 * for flows that are not known to be slow, and another tenth for those that are known to be fast. A flow of which nothing
 * is known has one connection, and one more for each submission that was fast.
 */
export class FlowScheduler {
  private readonly size: number
  private readonly speeds: FlowSpeeds
  private readonly limits: SharedLimits
  private readonly onSpeedChange: () => void
  private readonly nowMs: () => number
  private readonly flows = new Map<string, ScheduledFlow>()
  private running = 0
  private turn = 0

  /**
   * @param size how many connections there are
   * @param onSpeedChange called when a flow turned out to be fast or slow
   */
  constructor(
    size: number,
    onSpeedChange: () => void = () => undefined,
    nowMs: () => number = () => performance.now(),
  ) {
    this.size = size
    this.limits = sharedLimits(size)
    this.onSpeedChange = onSpeedChange
    this.nowMs = nowMs
    this.speeds = new FlowSpeeds(nowMs)
  }

  speedOf(flow: FlowKey): FlowSpeed {
    return this.speeds.of(flow)
  }

  /**
   * Runs work with a connection when it is the flow's turn; resolves when the work has ended, to false when it was given
   * back by {@link FlowScheduler.giveBack} instead. What the work throws is thrown.
   */
  run(key: FlowKey, work: (slot: Slot) => Promise<void>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const flow = this.flowOf(key)
      flow.waiting.push({
        start: async () => {
          try {
            await work({ time: submit => this.time(key, submit) })
            resolve(true)
          } catch (error) {
            reject(error)
          }
        },
        giveUp: () => resolve(false),
      })
      this.dispatch()
    })
  }

  /** Gives back work that waits: all of it, or what of slow flows waits beyond `maxSlow`, the last first. */
  giveBack(maxSlow?: number): void {
    const flows = [...this.flows.values()].filter(flow => maxSlow === undefined || this.speedOf(flow.key) === 'slow')
    let surplus = flows.reduce((sum, flow) => sum + flow.waiting.length, 0) - (maxSlow ?? 0)
    while (surplus > 0) {
      const longest = flows.reduce((a, b) => (b.waiting.length > a.waiting.length ? b : a))
      longest.waiting.pop()?.giveUp()
      this.forgetIfDone(longest)
      surplus--
    }
  }

  private dispatch(): void {
    while (this.running < this.size) {
      const flow = this.nextFlow()
      const work = flow?.waiting.shift()
      if (!flow || !work) return
      flow.running++
      this.running++
      flow.servedAt = ++this.turn
      void work.start().then(() => {
        flow.running--
        this.running--
        this.forgetIfDone(flow)
        this.dispatch()
      })
    }
  }

  private nextFlow(): ScheduledFlow | undefined {
    const counts: Record<FlowSpeed, number> = { fast: 0, slow: 0, unknown: 0 }
    for (const flow of this.flows.values()) if (flow.running > 0) counts[this.speedOf(flow.key)] += flow.running
    let next: ScheduledFlow | undefined
    for (const flow of this.flows.values())
      if (flow.waiting.length > 0 && (!next || comesBefore(flow, next)) && this.mayStart(flow, counts)) next = flow
    return next
  }

  private mayStart({ key, running }: ScheduledFlow, { slow, unknown }: Record<FlowSpeed, number>): boolean {
    const speed = this.speedOf(key)
    switch (speed) {
      case 'slow':
        return slow < this.limits.slow
      case 'unknown':
        return running < 1 && slow + unknown < this.limits.slowOrUnknown
      case 'fast':
        return running <= this.speeds.fastInARow(key)
      default:
        return speed satisfies never
    }
  }

  private async time<Result>(key: FlowKey, submit: () => Promise<Result>): Promise<Result> {
    const began = this.nowMs()
    // A flow is slow as soon as a submission has lasted that long.
    const timer = setTimeout(() => this.record(key, slowMs), slowMs)
    try {
      return await submit()
    } finally {
      clearTimeout(timer)
      this.record(key, this.nowMs() - began)
    }
  }

  private record(key: FlowKey, ms: number): void {
    const before = this.speedOf(key)
    this.speeds.record(key, ms)
    if (before === this.speedOf(key)) return
    this.dispatch()
    this.onSpeedChange()
  }

  private flowOf(key: FlowKey): ScheduledFlow {
    const name = flowName(key)
    const flow = this.flows.get(name) ?? { key, waiting: [], running: 0, servedAt: ++this.turn }
    this.flows.set(name, flow)
    return flow
  }

  private forgetIfDone(flow: ScheduledFlow): void {
    if (flow.waiting.length === 0 && flow.running === 0) this.flows.delete(flowName(flow.key))
  }
}

function comesBefore(flow: ScheduledFlow, other: ScheduledFlow): boolean {
  return flow.running === other.running ? flow.servedAt < other.servedAt : flow.running < other.running
}

function sharedLimits(size: number): SharedLimits {
  const reserve = Math.ceil(size / 10)
  return { slow: Math.max(1, size - 2 * reserve), slowOrUnknown: size > 3 ? size - reserve : size }
}
