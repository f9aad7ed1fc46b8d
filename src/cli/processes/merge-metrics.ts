import { AggregatorRegistry } from 'prom-client'
import type { ProcessMetrics } from './messages.ts'

/** The metrics of one process, and the label that those have which only mean something for one process. */
export interface LabelledMetrics {
  readonly process: string
  readonly metrics: ProcessMetrics
}

/**
 * The metrics of several processes as one: counters and histograms are summed, gauges as each of them says, and what describes
 * a process (its memory, its event loop) is kept apart by the label `process`.
 */
export async function mergeMetrics(ofProcesses: readonly LabelledMetrics[]): Promise<string> {
  return AggregatorRegistry.aggregate(
    ofProcesses.map(({ process, metrics }) =>
      metrics.map(metric => (describesProcess(metric) ? withLabel(metric, process) : metric)),
    ),
  ).metrics()
}

/**
 * What a process that ended has counted, added to what those before it had: otherwise the sums would fall, which Prometheus
 * takes for a new start from 0.
 */
export async function addCounts(before: ProcessMetrics, ended: ProcessMetrics): Promise<ProcessMetrics> {
  const counts = ended.filter(metric => isCount(metric) && !describesProcess(metric))
  return await AggregatorRegistry.aggregate([[...before], counts]).getMetricsAsJSON()
}

type Metric = ProcessMetrics[number]

/** The default metrics of prom-client. */
function describesProcess({ name }: Metric): boolean {
  return /^(?:process|nodejs)_/.test(name)
}

/** The library types `type` as a number and gives its name. */
function isCount({ type }: Metric): boolean {
  return ['counter', 'histogram'].includes(String(type))
}

function withLabel(metric: Metric, process: string): Metric {
  const values = metric.values.map(value => ({ ...value, labels: { ...value.labels, process } }))
  return { ...metric, values, aggregator: 'first' }
}
