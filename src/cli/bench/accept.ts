import { type Figure, figure } from './figure.ts'
import type { Ground } from './ground.ts'
import { runPart, startMailroom, startPart } from './processes.ts'

const connections = 32
const count = 12_000
const warmUp = 3000

/** POST /v1/emails, against a handler that only commits two rows. */
export async function measureAccept(ground: Ground): Promise<Figure[]> {
  const load = { part: 'http-load', connections, key: ground.key, fromDomain: ground.domain } as const
  const rateOf = async (target: { readonly port: number; readonly path: string; readonly status: number }) => {
    await runPart({ ...load, ...target, count: warmUp })
    const { seconds } = await runPart<{ seconds: number }>({ ...load, ...target, count })
    return count / seconds
  }
  const handler = startPart({ part: 'handler', databaseUrl: ground.databaseUrl, connections: 10 })
  const { port } = await handler.said<{ port: number }>()
  const limit = await rateOf({ port, path: '/', status: 200 })
  await handler.end()
  const mailroom = await startMailroom({ ...ground.env, MAILROOM_ROLES: 'http' })
  const rate = await rateOf({ port: mailroom.http ?? 0, path: '/v1/emails', status: 202 })
  const measured = { rate, limits: { 'a handler that commits two rows': limit }, peakBytes: mailroom.peakBytes() }
  await mailroom.end()
  return [figure('accept', 0.5, measured)]
}
