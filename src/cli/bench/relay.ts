import { measureCpuTimes } from './cpu-time.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, perItem } from './figure.ts'
import { runTask, startMailroom, startTask } from './processes.ts'
import type { DrainResult } from './servers/smtp-sink.ts'

const connections = 10
const count = 5000

/** Queued emails relayed to a sink, compared with nodemailer's pool alone; both sign with DKIM. */
export async function measureRelay(environment: BenchEnvironment): Promise<Figure[]> {
  await environment.clearOutbox()
  const sink = startTask({ task: 'sink' })
  const { port } = await sink.nextLine<{ port: number }>()
  const rateOf = async (send: () => Promise<unknown>) => {
    sink.send(String(count))
    const [{ messages, seconds }] = await Promise.all([sink.nextLine<DrainResult>(), send()])
    return (messages - 1) / seconds
  }
  const limit = await rateOf(() =>
    runTask({ task: 'nodemailer', sender: environment.serializedSender, port, connections, count }),
  )

  const http = await startMailroom({ ...environment.env, MAILROOM_ROLES: 'http' })
  const load = {
    task: 'http-load',
    port: http.http ?? 0,
    path: '/v1/emails',
    status: 202,
    connections,
    idempotent: false,
  } as const
  await runTask({ ...load, count, key: environment.key, fromDomain: environment.domain })
  await http.stop()

  let peakBytes = 0
  let cpuMs: Readonly<Record<string, number>> = {}
  const rate = await rateOf(async () => {
    const relay = await startMailroom({
      ...environment.env,
      MAILROOM_ROLES: 'relay',
      MAILROOM_PROVIDER: 'smarthost',
      MAILROOM_SMARTHOST_URL: `smtp://127.0.0.1:${port}`,
      MAILROOM_SMARTHOST_CONNECTIONS: String(connections),
    })
    const cpuSince = measureCpuTimes({ Mailroom: relay.pid, MariaDB: environment.pids.MariaDB })
    await environment.untilOutboxEmpty()
    cpuMs = perItem(cpuSince(), count)
    peakBytes = relay.peakBytes()
    await relay.stop()
  })
  await sink.stop()
  return [figure('relay', 0.6, { rate, limits: { "nodemailer's pool": limit }, peakBytes, cpuMs })]
}
