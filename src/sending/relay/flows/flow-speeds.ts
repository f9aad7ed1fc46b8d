import { type FlowKey, flowName } from '../outbox.ts'

/** A submission that takes as long as this is slow, in milliseconds. */
export const slowMs = 1000
/** How long a flow counts as slow after a slow submission, in milliseconds. */
const slowForMs = 30_000
const maxKnown = 2000

/** `unknown`: no submission of the flow, or to its destination, has ended yet. */
export type FlowSpeed = 'fast' | 'slow' | 'unknown'

interface Observations {
  readonly slowUntilMs: number
  /** Since the last slow one. */
  readonly fastInARow: number
}

/**
 * How long the provider takes for the emails of each flow, as far as remembered: of the 2,000 flows and destinations seen last.
 * What is not known of a flow is taken from its destination.
 * @param nowMs a monotonic clock, in milliseconds
 */
export class FlowSpeeds {
  private readonly known = new Map<string, Observations>()
  private readonly nowMs: () => number

  constructor(nowMs: () => number) {
    this.nowMs = nowMs
  }

  of(flow: FlowKey): FlowSpeed {
    const seen = this.find(flow)
    if (!seen) return 'unknown'
    if (this.nowMs() < seen.slowUntilMs) return 'slow'
    return seen.fastInARow > 0 ? 'fast' : 'unknown'
  }

  /** How many submissions in a row were fast. */
  fastInARow(flow: FlowKey): number {
    return this.find(flow)?.fastInARow ?? 0
  }

  /** A submission ended after `ms`, or has lasted so long. */
  record(flow: FlowKey, ms: number): void {
    for (const key of [flowName(flow), flow.destination]) {
      const seen = this.known.get(key)
      this.known.delete(key)
      this.known.set(
        key,
        ms >= slowMs
          ? { slowUntilMs: this.nowMs() + slowForMs, fastInARow: 0 }
          : { slowUntilMs: seen?.slowUntilMs ?? 0, fastInARow: (seen?.fastInARow ?? 0) + 1 },
      )
    }
    for (const oldest of this.known.keys()) {
      if (this.known.size <= maxKnown) break
      this.known.delete(oldest)
    }
  }

  private find(flow: FlowKey): Observations | undefined {
    return this.known.get(flowName(flow)) ?? this.known.get(flow.destination)
  }
}
