import { measureCpuTimes } from './cpu-time.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, median, perItem } from './figure.ts'
import { runTask, startMailroom, startTask } from './processes.ts'

const connections = 32
const warmUp = 8000
const rounds = 3
const perRound = 5000

interface Round extends Pick<Figure, 'rate'> {
  readonly cpuMs: Readonly<Record<string, number>>
}

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
  const measured = { raw: [] as Round[], ours: [] as Round[], withKeys: [] as Round[], submitted: [] as Round[] }
  const measure = async (rateOfRound: () => Promise<number>): Promise<Round> => {
    const cpuSince = measureCpuTimes({ Mailroom: mailroom.pid, MariaDB: environment.pids.MariaDB })
    const rate = await rateOfRound()
    return { rate, cpuMs: perItem(cpuSince(), perRound) }
  }
  for (const target of [raw, ours]) await rateOf(target, warmUp)
  await submissionRate(warmUp)
  for (let round = 0; round < rounds; round++) {
    measured.raw.push(await measure(() => rateOf(raw, perRound)))
    measured.ours.push(await measure(() => rateOf(ours, perRound)))
    measured.withKeys.push(await measure(() => rateOf(withKeys, perRound)))
    measured.submitted.push(await measure(() => submissionRate(perRound)))
  }
  const peakBytes = mailroom.peakBytes()
  await handler.stop()
  await mailroom.stop()
  const accepted = medianRound(measured.ours)
  const limits = { 'a handler that commits two rows': medianRound(measured.raw).rate }
  return [
    figure('accept', 0.5, { ...accepted, limits, peakBytes }),
    figure('accept, with Idempotency-Key', 0.45, { ...medianRound(measured.withKeys), limits, peakBytes }),
    figure('accept, by SMTP submission', 0.9, {
      ...medianRound(measured.submitted),
      limits: { 'POST /v1/emails': accepted.rate },
      peakBytes,
    }),
  ]
}

/** The round with the median rate. */
function medianRound(rounds: readonly Round[]): Round {
  const rate = median(rounds.map(round => round.rate))
  return rounds.find(round => round.rate === rate) ?? { rate, cpuMs: {} }
}
