import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, median } from './figure.ts'
import { runTask, startMailroom, startTask } from './processes.ts'

const connections = 32
const warmUp = 8000
const rounds = 3
const perRound = 5000

interface LoadTarget {
  readonly port: number
  readonly path: string
  readonly status: number
  readonly idempotent: boolean
}

/**
 * POST /v1/emails, with and without an Idempotency-Key, compared with a handler that only commits two rows; and the same
 * emails by SMTP submission, compared with POST /v1/emails. They take turns, so that all find the machine in the same state.
 */
export async function measureAccept(environment: BenchEnvironment): Promise<Figure[]> {
  const load = { task: 'http-load', connections, key: environment.key, fromDomain: environment.domain } as const
  const rateOf = async (target: LoadTarget, count: number) => {
    const { seconds } = await runTask<{ seconds: number }>({ ...load, ...target, count })
    return count / seconds
  }
  const handler = startTask({ task: 'handler', databaseUrl: environment.databaseUrl, connections: 10 })
  const mailroom = await startMailroom({
    ...environment.env,
    MAILROOM_ROLES: 'http,submission',
    MAILROOM_SUBMISSION_LISTEN: '127.0.0.1:0',
    MAILROOM_MAX_SESSIONS_PER_ADDRESS: String(2 * connections),
  })
  const raw: LoadTarget = {
    port: (await handler.nextLine<{ port: number }>()).port,
    path: '/',
    status: 200,
    idempotent: false,
  }
  const ours: LoadTarget = { port: mailroom.http ?? 0, path: '/v1/emails', status: 202, idempotent: false }
  const withKeys: LoadTarget = { ...ours, idempotent: true }
  const submissionRate = async (count: number) => {
    const task = { ...load, task: 'submission-load', port: mailroom.submission ?? 0, count } as const
    const { seconds } = await runTask<{ seconds: number }>(task)
    return count / seconds
  }
  const rates = { raw: [] as number[], ours: [] as number[], withKeys: [] as number[], submitted: [] as number[] }
  for (const target of [raw, ours]) await rateOf(target, warmUp)
  await submissionRate(warmUp)
  for (let round = 0; round < rounds; round++) {
    rates.raw.push(await rateOf(raw, perRound))
    rates.ours.push(await rateOf(ours, perRound))
    rates.withKeys.push(await rateOf(withKeys, perRound))
    rates.submitted.push(await submissionRate(perRound))
  }
  const peakBytes = mailroom.peakBytes()
  await handler.stop()
  await mailroom.stop()
  const limits = { 'a handler that commits two rows': median(rates.raw) }
  return [
    figure('accept', 0.5, { rate: median(rates.ours), limits, peakBytes }),
    figure('accept, with Idempotency-Key', 0.45, { rate: median(rates.withKeys), limits, peakBytes }),
    figure('accept, by SMTP submission', 0.9, {
      rate: median(rates.submitted),
      limits: { 'POST /v1/emails': median(rates.ours) },
      peakBytes,
    }),
  ]
}
