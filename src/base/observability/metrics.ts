import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { tracedStep } from './tracing.ts'

/** Names and units follow Prometheus' conventions: seconds, bytes, `_total`. */
export const registry = new Registry()

const stepSeconds = new Histogram({
  name: 'mailroom_step_seconds',
  help: 'How long each step of the two ways takes.',
  labelNames: ['way', 'step'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 120],
  registers: [registry],
})

type Observe = (seconds: number) => void

/** Kept ready: to look the labels up at each observation costs more than to observe. */
const observers = new Map<string, Observe>()

function observerOf(way: 'in' | 'out', step: string): Observe {
  const key = `${way} ${step}`
  const known = observers.get(key)
  if (known) return known
  const child = stepSeconds.labels(way, step)
  const observe: Observe = seconds => child.observe(seconds)
  observers.set(key, observe)
  return observe
}

/** Runs one step of a way and notes how long it took, also when it throws; in a trace it is a span. */
export async function timed<Result>(way: 'in' | 'out', step: string, run: () => Promise<Result>): Promise<Result> {
  const started = performance.now()
  try {
    return await tracedStep(`${way} ${step}`, run)
  } finally {
    observerOf(way, step)((performance.now() - started) / 1000)
  }
}

/** A counter in the one registry. */
export function counter<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [registry] })
}

/** A gauge in the one registry; `read`, where given, sets it whenever it is asked for. */
export function gauge<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[] = [],
  read?: () => void,
): Gauge<Label> {
  return new Gauge({ name, help, labelNames, registers: [registry], ...(read && { collect: read }) })
}

/** A histogram in the one registry. */
export function histogram<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  buckets: readonly number[],
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] })
}
