import type { RunningApp } from '../../app/app.ts'
import { type Config, readConfig } from '../../base/config/config.ts'
import { configOfProcess } from '../../base/config/processes.ts'
import { registry } from '../../base/observability/metrics.ts'
import type { WindowCounts } from '../../servers/limits/rate-limiter.ts'
import { complain, describeFailure } from '../command/failure.ts'
import type { ParentMessage, SharedPorts, WorkerMessage, WorkerOrder } from './messages.ts'

/**
 * Runs a worker: serves its share until its parent says so or is gone, or a signal comes. A second signal changes
 * nothing, since a terminal or service manager signals workers and parent alike, and the parent ends those that it has to.
 * @param orderJson a {@link WorkerOrder}
 * @returns its exit status
 */
export async function runWorker(orderJson = '{}'): Promise<number> {
  const order = JSON.parse(orderJson) as WorkerOrder
  const stopped = Promise.withResolvers<void>()
  let app: RunningApp | undefined
  let receiveCounts: (counts: WindowCounts) => void = () => undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stopped.resolve)
  process.on('disconnect', stopped.resolve)
  process.on('message', (message: ParentMessage) => void handle(message))

  async function handle(message: ParentMessage): Promise<void> {
    switch (message.kind) {
      case 'ping':
        return send({ kind: 'reply', id: message.id, metrics: [] })
      case 'collect-metrics':
        return send({ kind: 'reply', id: message.id, metrics: await registry.getMetricsAsJSON() })
      case 'wake-relay':
        return app?.wakeRelay()
      case 'counted-requests':
        return receiveCounts(message)
      case 'stop':
        return stopped.resolve()
      default:
        message satisfies never
    }
  }

  try {
    const config = readConfig(process.env)
    const { serveShare } = await import('../../main.ts')
    app = await serveShare(withPorts(configOfProcess(config, order), order.ports), {
      runsJobs: order.number === 1,
      sharesPorts: true,
      instanceConfig: config,
      requestCounts: {
        send: ({ window, counts }) => send({ kind: 'counted-requests', window, counts }),
        onReceive(receive) {
          receiveCounts = receive
        },
      },
      wakeOtherRelay: atMostEvery(relayWakeupMs, () => send({ kind: 'wake-relay' })),
    })
  } catch (error) {
    const failure = describeFailure(error)
    if (!failure) throw error
    return complain(failure.text, failure.status)
  }
  const { http, https, smtp, submission, submissions } = app
  send({ kind: 'serving', listeners: { http, https, smtp, submission, submissions } })
  await stopped.promise
  await app.stop()
  return 0
}

/** Emails that are accepted within this time wake the relay once, in milliseconds. */
const relayWakeupMs = 5

/** Runs `action` once for all calls within `ms`, at the end of that time. */
function atMostEvery(ms: number, action: () => void): () => void {
  let isWaiting = false
  const run = () => {
    isWaiting = false
    action()
  }
  return () => {
    if (!isWaiting) setTimeout(run, ms)
    isWaiting = true
  }
}

/** Without a parent, which may be gone, nothing is sent. */
function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message)
}

function withPorts(config: Config, ports: SharedPorts): Config {
  const { httpListen, httpsListen, smtpListen, submissionListen, submissionsListen } = config
  return {
    ...config,
    httpListen: { ...httpListen, port: ports.http ?? httpListen.port },
    smtpListen: { ...smtpListen, port: ports.smtp ?? smtpListen.port },
    httpsListen: httpsListen && { ...httpsListen, port: ports.https ?? httpsListen.port },
    submissionListen: submissionListen && { ...submissionListen, port: ports.submission ?? submissionListen.port },
    submissionsListen: submissionsListen && { ...submissionsListen, port: ports.submissions ?? submissionsListen.port },
  }
}
