import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure } from './figure.ts'
import { runTask, startMailroom, startTask } from './processes.ts'
import type { DrainResult } from './smtp-sink.ts'

const connections = 10
const count = 5000

/** Queued emails drained to a sink, against nodemailer's pool alone; both sign with DKIM. */
export async function measureRelay(ground: BenchEnvironment): Promise<Figure[]> {
  await ground.clearOutbox()
  const sink = startTask({ part: 'sink' })
  const { port } = await sink.nextLine<{ port: number }>()
  const drained = async (drain: () => Promise<unknown>) => {
    sink.send(String(count))
    const [{ messages, seconds }] = await Promise.all([sink.nextLine<DrainResult>(), drain()])
    return (messages - 1) / seconds
  }
  const limit = await drained(() =>
    runTask({ part: 'nodemailer', sender: ground.serializedSender, port, connections, count }),
  )

  const http = await startMailroom({ ...ground.env, MAILROOM_ROLES: 'http' })
  const load = {
    part: 'http-load',
    port: http.http ?? 0,
    path: '/v1/emails',
    status: 202,
    connections,
    idempotent: false,
  } as const
  await runTask({ ...load, count, key: ground.key, fromDomain: ground.domain })
  await http.stop()

  let peakBytes = 0
  const rate = await drained(async () => {
    const relay = await startMailroom({
      ...ground.env,
      MAILROOM_ROLES: 'relay',
      MAILROOM_PROVIDER: 'smarthost',
      MAILROOM_SMARTHOST_URL: `smtp://127.0.0.1:${port}`,
      MAILROOM_SMARTHOST_CONNECTIONS: String(connections),
    })
    await ground.untilOutboxEmpty()
    peakBytes = relay.peakBytes()
    await relay.stop()
  })
  await sink.stop()
  return [figure('relay', 0.6, { rate, limits: { "nodemailer's pool": limit }, peakBytes })]
}
