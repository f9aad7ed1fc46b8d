import { Counter, Gauge, type Histogram, Registry } from 'prom-client'
import { LabelledHistogram } from './histogram.ts'
import { tracedStep } from './tracing.ts'

/** All metrics. Names and units follow the conventions of Prometheus: seconds, bytes, `_total`. */
export const registry = new Registry()

const stepSeconds = new LabelledHistogram({
  name: 'mailroom_step_seconds',
  help: 'Duration of each step of the inbound (`in`) and outbound (`out`) pipeline.',
  labelNames: ['way', 'step'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120],
  registers: [registry],
})

type Observe = (seconds: number) => void

/** Cached: looking up the labels at each observation costs more than observing. */
const observers = new Map<string, Observe>()

function observerOf(way: 'in' | 'out', step: string): Observe {
  const key = `${way} ${step}`
  const existing = observers.get(key)
  if (existing) return existing
  const child = stepSeconds.labels(way, step)
  const observe: Observe = seconds => child.observe(seconds)
  observers.set(key, observe)
  return observe
}

/** Runs one step of a pipeline and records its duration, also when it throws. In a trace it is a span. */
export async function timed<Result>(way: 'in' | 'out', step: string, run: () => Promise<Result>): Promise<Result> {
  const started = performance.now()
  try {
    return await tracedStep(`${way} ${step}`, run)
  } finally {
    observerOf(way, step)((performance.now() - started) / 1000)
  }
}

/** Creates a counter in the registry. */
export function counter<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] })
}

export interface GaugeOptions {
  /** Sets it whenever metrics are collected. */
  readonly read?: () => void
  /** Its value for several processes that share their ports; `max`: each of them observes the same thing. By default the sum. */
  readonly ofProcesses?: 'sum' | 'max'
}

/** Creates a gauge in the registry. */
export function gauge<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
  { read, ofProcesses = 'sum' }: GaugeOptions = {},
): Gauge<Label> {
  return new Gauge({
    ...{ name, help, labelNames, registers: [registry], aggregator: ofProcesses },
    ...(read && { collect: read }),
  })
}

/** Creates a histogram in the registry. */
export function histogram<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  buckets: readonly number[],
): Histogram<Label> {
  return new LabelledHistogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] })
}
