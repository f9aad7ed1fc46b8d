import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildTask } from './child-process.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure } from './figure.ts'
import { packMessages } from './message-file.ts'
import { signedMessages } from './messages.ts'
import { runTask, startMailroom } from './processes.ts'

const connections = 20
/** Small messages before each measurement: until then the JIT compiler uses part of the processors. */
const warmUpMessages = 16_000
/**
 * clamd alone and Mailroom take turns of a few seconds: how fast a file system creates and removes clamd's files depends on
 * how many were removed in the last minutes, and both have to find it in the same state.
 */
const rounds = 8
const roundSeconds = 3.5

interface SmtpLoadResult {
  readonly count: number
  readonly seconds: number
}

const sizes = [
  { name: 'ingest, 5 KB', count: 24_000, attachmentBytes: 0 },
  { name: 'ingest, 87 KB', count: 5400, attachmentBytes: 60_000 },
] as const

/** Signed messages over reused connections, through all checks to a committed row; limits and rate take turns. */
export async function measureIngest(environment: BenchEnvironment): Promise<Figure[]> {
  const figures: Figure[] = []
  const warmUp = join(environment.folder, 'warm-up')
  writeFileSync(warmUp, packMessages(await signedMessages(environment.sender, environment.mailbox, warmUpMessages, 0)))
  for (const { name, count, attachmentBytes } of sizes) {
    const messages = await signedMessages(environment.sender, environment.mailbox, count, attachmentBytes)
    const files = Array.from({ length: rounds }, (_, i) => {
      const file = join(environment.folder, `messages-${i}`)
      const share = count / rounds
      writeFileSync(file, packMessages(messages.slice(i * share, (i + 1) * share)))
      return file
    })
    figures.push(await measureSize(environment, name, warmUp, files))
  }
  return figures
}

async function measureSize(
  environment: BenchEnvironment,
  name: string,
  warmUp: string,
  files: readonly string[],
): Promise<Figure> {
  const { clamd, databaseUrl, serializedSender: sender } = environment
  const mailroom = await startMailroom({ ...environment.env, MAILROOM_ROLES: 'smtp' })
  const envelope = { from: `alice@${sender.domain}`, to: environment.mailbox }
  const load = { task: 'smtp-load', port: mailroom.smtp ?? 0, connections, ...envelope } as const
  const rateOf = async (task: ChildTask) => (await runTask<{ rate: number }>(task)).rate
  const before = await environment.countMessages()
  // From another sender each time: the same message from the same sender is filed once.
  const warmUpLoad = { ...load, from: `${name.replace(/\W/g, '')}@${sender.domain}`, messages: warmUp, maxSeconds: 60 }
  let acceptedCount = (await runTask<SmtpLoadResult>(warmUpLoad)).count
  const [first = ''] = files
  const mailauth = await rateOf({ task: 'mailauth', sender, messages: first })
  const inserts = await rateOf({ task: 'inserts', databaseUrl, connections, messages: first })
  const measured = { clamd: [] as number[], ours: [] as SmtpLoadResult[] }
  for (const messages of files) {
    measured.clamd.push(await rateOf({ task: 'clamd', clamd, connections, messages }))
    measured.ours.push(await runTask<SmtpLoadResult>({ ...load, messages, maxSeconds: roundSeconds }))
  }
  acceptedCount += sumOf(measured.ours.map(round => round.count))
  const filed = (await environment.countMessages()) - before
  if (filed !== acceptedCount)
    throw new Error(`${acceptedCount} messages were accepted with 250 but ${filed} are stored`)
  const peakBytes = mailroom.peakBytes()
  await mailroom.stop()
  const rate = sumOf(measured.ours.map(round => round.count)) / sumOf(measured.ours.map(round => round.seconds))
  const limits = { clamd: sumOf(measured.clamd) / rounds, mailauth, inserts }
  const ratios = measured.ours.map(({ count, seconds }, i) =>
    Math.round((100 * count) / seconds / (measured.clamd[i] ?? 0)),
  )
  return { ...figure(name, 0.6, { rate, limits, peakBytes }), note: `of clamd in each round: ${ratios.join(', ')} %` }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, value) => sum + value, 0)
}
