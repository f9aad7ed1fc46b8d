import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, median } from './figure.ts'
import { packMessages } from './load/message-file.ts'
import { signedMessages } from './messages.ts'
import { type MailroomProcess, runTask, startMailroom, startTask } from './processes.ts'

const connections = 40
const rounds = 3
const perRound = 12_000
const warmUp = 6000
const roundSeconds = 20

/**
 * The role smtp in two processes, compared with one, on 5 KB messages, with a scanner that costs nothing. They take turns, each
 * with senders of its own: the same message from the same sender is filed once. More than two cores leave some to the client
 * and the database.
 */
export async function measureTwoProcesses(environment: BenchEnvironment): Promise<Figure[]> {
  const scanner = startTask({ task: 'free-scanner' })
  const { port: scannerPort } = await scanner.nextLine<{ port: number }>()
  const start = (count: number) =>
    startMailroom({
      ...environment.env,
      MAILROOM_ROLES: 'smtp',
      MAILROOM_PROCESSES: String(count),
      MAILROOM_CLAMD: `tcp:127.0.0.1:${scannerPort}`,
      MAILROOM_MAX_SESSIONS_PER_ADDRESS: String(4 * connections),
    })
  const messages = join(environment.folder, 'messages')
  const warmUpMessages = join(environment.folder, 'warm-up')
  const signed = await signedMessages(environment.sender, environment.mailbox, perRound, 0)
  writeFileSync(messages, packMessages(signed))
  writeFileSync(warmUpMessages, packMessages(signed.slice(0, warmUp)))
  const rateOf = async ({ smtp }: MailroomProcess, sender: string, file: string) => {
    const envelope = { from: `${sender}@${environment.serializedSender.domain}`, to: environment.mailbox }
    const load = { port: smtp ?? 0, connections, ...envelope, messages: file, maxSeconds: roundSeconds }
    const { count, seconds } = await runTask<{ count: number; seconds: number }>({ task: 'smtp-load', ...load })
    return count / seconds
  }
  const [one, two] = [await start(1), await start(2)]
  const rates = { one: [] as number[], two: [] as number[] }
  for (const [name, mailroom] of Object.entries({ one, two })) await rateOf(mailroom, `warm${name}`, warmUpMessages)
  for (let round = 0; round < rounds; round++) {
    rates.one.push(await rateOf(one, `one${round}`, messages))
    rates.two.push(await rateOf(two, `two${round}`, messages))
  }
  const peakBytes = two.peakBytes()
  await Promise.all([one, two, scanner].map(child => child.stop()))
  const limits = { 'one process': median(rates.one) }
  return [figure('ingest, 5 KB, two processes', 1.7, { rate: median(rates.two), limits, peakBytes })]
}
