import { MiB } from '../../base/config/parsers.ts'
import type { WindowCounts } from '../../servers/limits/rate-limiter.ts'
import type { Environment } from '../command.ts'
import {
  type CountedRequests,
  type ParentMessage,
  type ProcessMetrics,
  type WorkerListeners,
  type WorkerMessage,
  type WorkerOrder,
  workerCommand,
} from './messages.ts'

/** A worker, as its parent sees it. */
export interface WorkerProcess {
  readonly number: number
  readonly pid: number
  /** Where it listens; null: it ended before. */
  readonly serving: Promise<WorkerListeners | null>
  /** Its exit status, or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Does it run and serve? */
  isServing(): boolean
  hasEnded(): boolean
  /** How many messages have come from it. */
  heardCount(): number
  /** Does its event loop run? Waits for `timeoutMs` at most, as the next does. */
  ping(timeoutMs: number): Promise<boolean>
  /** null: it did not answer. */
  collectMetrics(timeoutMs: number): Promise<ProcessMetrics | null>
  wakeRelay(): void
  /** Tells it what others have counted. */
  countRequests(counted: WindowCounts): void
  /** Asks it to finish its work and to end. */
  stop(): void
  /** Ends it at once. */
  kill(): void
}

/** The memory by which the garbage collector lets the heap grow: otherwise that of the machine, as if there were no others. */
const heapBytes = 320 * MiB

interface WorkerOptions {
  /** With its settings. */
  readonly env: Environment
  /** It serves from now on. */
  onServing(): void
  /** It has accepted an email, which the relay of another worker may submit now. */
  onWakeRelay(): void
  /** It has counted requests, which may be of a client of others too. */
  onCountedRequests(counted: CountedRequests): void
}

export function startWorker(
  order: WorkerOrder,
  { env, onServing, onWakeRelay, onCountedRequests }: WorkerOptions,
): WorkerProcess {
  const serving = Promise.withResolvers<WorkerListeners | null>()
  const replies = new Map<number, (metrics: ProcessMetrics) => void>()
  let isServing = false
  let hasEnded = false
  let heardCount = 0
  let lastId = 0
  const child = Bun.spawn([process.execPath, ...process.execArgv, Bun.main, workerCommand, JSON.stringify(order)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { BUN_JSC_forceRAMSize: String(heapBytes), BUN_JSC_thresholdForFTLOptimizeAfterWarmUp: '640000', ...env },
    serialization: 'json',
    ipc: (message: WorkerMessage) => receive(message),
  })

  function receive(message: WorkerMessage): void {
    heardCount++
    switch (message.kind) {
      case 'serving':
        isServing = true
        onServing()
        serving.resolve(message.listeners)
        break
      case 'reply':
        replies.get(message.id)?.(message.metrics)
        break
      case 'wake-relay':
        onWakeRelay()
        break
      case 'counted-requests':
        onCountedRequests(message)
        break
      default:
        message satisfies never
    }
  }

  function send(message: ParentMessage): void {
    try {
      child.send(message)
    } catch {
      // It has ended; so it is seen below.
    }
  }

  async function request(kind: 'ping' | 'collect-metrics', timeoutMs: number): Promise<ProcessMetrics | null> {
    lastId++
    const id = lastId
    const reply = new Promise<ProcessMetrics>(resolve => replies.set(id, resolve))
    send({ kind, id })
    try {
      return await Promise.race([reply, Bun.sleep(timeoutMs).then(() => null), ended.then(() => null)])
    } finally {
      replies.delete(id)
    }
  }

  const ended = child.exited.then(() => {
    isServing = false
    hasEnded = true
    serving.resolve(null)
    return child.signalCode ?? child.exitCode ?? 1
  })
  return {
    number: order.number,
    pid: child.pid,
    serving: serving.promise,
    ended,
    isServing: () => isServing,
    hasEnded: () => hasEnded,
    heardCount: () => heardCount,
    ping: async timeoutMs => (await request('ping', timeoutMs)) !== null,
    collectMetrics: timeoutMs => request('collect-metrics', timeoutMs),
    wakeRelay: () => send({ kind: 'wake-relay' }),
    countRequests: ({ window, counts }) => send({ kind: 'counted-requests', window, counts }),
    stop: () => send({ kind: 'stop' }),
    kill: () => child.kill('SIGKILL'),
  }
}
