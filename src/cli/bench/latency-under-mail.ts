import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, median } from './figure.ts'
import type { Latency } from './load/latency.ts'
import { packMessages } from './load/message-file.ts'
import { signedMessages } from './messages.ts'
import { runTask, startMailroom, startTask } from './processes.ts'

const connections = 4
const attachmentBytes = 2_950_000
const rounds = 4
const perRound = 48
const roundSeconds = 6
const warmUpMessages = 4000
const intervalMs = 20

/**
 * Pages of the inbox, asked for 50 times a second of a process that receives 4 MB messages meanwhile; and what these requests
 * cost the mail: rounds with and without them take turns.
 */
export async function measureLatencyUnderMail(environment: BenchEnvironment): Promise<Figure[]> {
  const { folder, sender, mailbox, key, serializedSender } = environment
  const mailroom = await startMailroom({ ...environment.env, MAILROOM_ROLES: 'smtp,http' })
  const file = join(folder, 'messages')
  const send = async (from: string, maxSeconds = roundSeconds) => {
    const load = { port: mailroom.smtp ?? 0, connections, to: mailbox, from: `${from}@${serializedSender.domain}` }
    const { count, seconds } = await runTask<{ count: number; seconds: number }>({
      ...{ task: 'smtp-load', ...load, messages: file, maxSeconds },
    })
    return count / seconds
  }
  const whileRequesting = async <Result>(work: () => Promise<Result>): Promise<[Result, Latency]> => {
    const url = `http://127.0.0.1:${mailroom.http}/v1/inbox`
    const asking = startTask({ task: 'latency', url, key, intervalMs })
    try {
      const result = await work()
      asking.send('end')
      return [result, await asking.nextLine<Latency>()]
    } finally {
      await asking.stop()
    }
  }
  writeFileSync(file, packMessages(await signedMessages(sender, mailbox, warmUpMessages, 0)))
  await whileRequesting(() => send('latencywarm', 60))
  const [, alone] = await whileRequesting(() => Bun.sleep(roundSeconds * 1000))
  const [withRequests, withoutRequests, latencies]: [number[], number[], Latency[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    // Of each message one copy for the round with requests, and one, from another sender, for that without.
    writeFileSync(file, packMessages(await signedMessages(sender, mailbox, perRound, attachmentBytes)))
    withoutRequests.push(await send(`without${round}`))
    const [rate, latency] = await whileRequesting(() => send(`with${round}`))
    withRequests.push(rate)
    latencies.push(latency)
  }
  const peakBytes = mailroom.peakBytes()
  await mailroom.stop()
  rmSync(file)
  const measured = { rate: median(withRequests), limits: { 'without requests': median(withoutRequests) }, peakBytes }
  const worst = latencies.map(({ p99 }) => p99.toFixed())
  return [
    {
      ...figure('ingest, 4 MB, while pages of the inbox are asked for', 0.9, measured),
      note: `GET /v1/inbox meanwhile: p50 ${median(latencies.map(({ p50 }) => p50)).toFixed(1)} ms, p99 ${worst.join(', ')} ms in each round (target 50 ms); without mail ${alone.p50.toFixed(1)} and ${alone.p99.toFixed(1)} ms`,
    },
  ]
}
