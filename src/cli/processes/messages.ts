import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { SharedPlace } from '../../base/config/processes.ts'
import type { WindowCounts } from '../../servers/limits/rate-limiter.ts'

/** The ports on which the first worker listens, for the others and for those that replace it. */
export type SharedPorts = Partial<Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions', number>>

/** The first argument of a worker: no command of an operator. The second is a {@link WorkerOrder}. */
export const workerCommand = 'serve-worker'

/** What a worker is to be, as JSON. */
export interface WorkerOrder extends SharedPlace {
  /** Instead of those in the settings, which may be 0. */
  readonly ports: SharedPorts
}

/** Where the workers listen: URLs and `host:port`, as RunningApp has them. */
export type WorkerListeners = Readonly<Record<'http' | 'https' | 'smtp' | 'submission' | 'submissions', string | null>>

/** The metrics of one process, as its registry gives them. */
export type ProcessMetrics = readonly MetricObjectWithValues<MetricValue<string>>[]

/** From a worker to its parent, and from there to all others: what it has counted against the limits of clients. */
export interface CountedRequests extends WindowCounts {
  readonly kind: 'counted-requests'
}

/** From the parent to a worker. A request is answered by a reply with its id. */
export type ParentMessage =
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'collect-metrics'; readonly id: number }
  | { readonly kind: 'wake-relay' }
  | CountedRequests
  /** Finish the work in progress and end. */
  | { readonly kind: 'stop' }

/** From a worker to its parent. */
export type WorkerMessage =
  | { readonly kind: 'serving'; readonly listeners: WorkerListeners }
  | { readonly kind: 'reply'; readonly id: number; readonly metrics: ProcessMetrics }
  | { readonly kind: 'wake-relay' }
  | CountedRequests
