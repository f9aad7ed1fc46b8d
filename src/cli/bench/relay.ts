import type { Ground } from './environment.ts'
import { type Figure, figure } from './figure.ts'
import { runPart, startMailroom, startPart } from './processes.ts'
import type { Drained } from './smtp-sink.ts'

const connections = 10
const count = 5000

/** Queued emails drained to a sink, against nodemailer's pool alone; both sign with DKIM. */
export async function measureRelay(ground: Ground): Promise<Figure[]> {
  await ground.clearOutbox()
  const sink = startPart({ part: 'sink' })
  const { port } = await sink.said<{ port: number }>()
  const drained = async (drain: () => Promise<unknown>) => {
    sink.tell(String(count))
    const [{ messages, seconds }] = await Promise.all([sink.said<Drained>(), drain()])
    return (messages - 1) / seconds
  }
  const limit = await drained(() =>
    runPart({ part: 'nodemailer', sender: ground.senderText, port, connections, count }),
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
  await runPart({ ...load, count, key: ground.key, fromDomain: ground.domain })
  await http.end()

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
    await relay.end()
  })
  await sink.end()
  return [figure('relay', 0.6, { rate, limits: { "nodemailer's pool": limit }, peakBytes })]
}
