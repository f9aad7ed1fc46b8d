import { type Figure, figure, median } from './figure.ts'
import type { Ground } from './ground.ts'
import { runPart, startMailroom, startPart } from './processes.ts'

const connections = 32
const warmUp = 8000
const rounds = 3
const perRound = 5000

interface Target {
  readonly port: number
  readonly path: string
  readonly status: number
}

/** POST /v1/emails, against a handler that only commits two rows; in turn, so that both see the machine alike. */
export async function measureAccept(ground: Ground): Promise<Figure[]> {
  const load = { part: 'http-load', connections, key: ground.key, fromDomain: ground.domain } as const
  const rateOf = async (target: Target, count: number) => {
    const { seconds } = await runPart<{ seconds: number }>({ ...load, ...target, count })
    return count / seconds
  }
  const handler = startPart({ part: 'handler', databaseUrl: ground.databaseUrl, connections: 10 })
  const mailroom = await startMailroom({ ...ground.env, MAILROOM_ROLES: 'http' })
  const raw: Target = { port: (await handler.said<{ port: number }>()).port, path: '/', status: 200 }
  const ours: Target = { port: mailroom.http ?? 0, path: '/v1/emails', status: 202 }
  const limits: number[] = []
  const rates: number[] = []
  for (const target of [raw, ours]) await rateOf(target, warmUp)
  for (let round = 0; round < rounds; round++) {
    limits.push(await rateOf(raw, perRound))
    rates.push(await rateOf(ours, perRound))
  }
  const peakBytes = mailroom.peakBytes()
  await handler.end()
  await mailroom.end()
  const measured = { rate: median(rates), limits: { 'a handler that commits two rows': median(limits) }, peakBytes }
  return [figure('accept', 0.5, measured)]
}
