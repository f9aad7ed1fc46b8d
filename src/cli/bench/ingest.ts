import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildTask } from './child-process.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure } from './figure.ts'
import { packMessages } from './message-file.ts'
import { signedMessages } from './messages.ts'
import { runTask, startMailroom } from './processes.ts'

const connections = 20
/** Small messages before each measurement: until then the compiler takes part of the processors, later never again. */
const warmUpMessages = 16_000
/**
 * The scanner alone and all of it, in turns of a few seconds: how fast a file system makes and removes the scanner's
 * files depends on how many were removed there in the last minutes, and both are to find it in the same state.
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

/** Signed messages over reused connections, through all checks to a committed row; limits and rate in turn. */
export async function measureIngest(ground: BenchEnvironment): Promise<Figure[]> {
  const figures: Figure[] = []
  const warmUp = join(ground.folder, 'warm-up')
  writeFileSync(warmUp, packMessages(await signedMessages(ground.sender, ground.mailbox, warmUpMessages, 0)))
  for (const { name, count, attachmentBytes } of sizes) {
    const messages = await signedMessages(ground.sender, ground.mailbox, count, attachmentBytes)
    const files = Array.from({ length: rounds }, (_, i) => {
      const file = join(ground.folder, `messages-${i}`)
      const share = count / rounds
      writeFileSync(file, packMessages(messages.slice(i * share, (i + 1) * share)))
      return file
    })
    figures.push(await measureSize(ground, name, warmUp, files))
  }
  return figures
}

async function measureSize(
  ground: BenchEnvironment,
  name: string,
  warmUp: string,
  files: readonly string[],
): Promise<Figure> {
  const { clamd, databaseUrl, serializedSender: sender } = ground
  const mailroom = await startMailroom({ ...ground.env, MAILROOM_ROLES: 'smtp' })
  const envelope = { from: `alice@${sender.domain}`, to: ground.mailbox }
  const load = { part: 'smtp-load', port: mailroom.smtp ?? 0, connections, ...envelope } as const
  const rateOf = async (part: ChildTask) => (await runTask<{ rate: number }>(part)).rate
  const before = await ground.countMessages()
  // Each time from somebody else: what came already is not filed again.
  const warming = { ...load, from: `${name.replace(/\W/g, '')}@${sender.domain}`, messages: warmUp, maxSeconds: 60 }
  let answered = (await runTask<SmtpLoadResult>(warming)).count
  const [first = ''] = files
  const mailauth = await rateOf({ part: 'mailauth', sender, messages: first })
  const inserts = await rateOf({ part: 'inserts', databaseUrl, connections, messages: first })
  const seen = { clamd: [] as number[], ours: [] as SmtpLoadResult[] }
  for (const messages of files) {
    seen.clamd.push(await rateOf({ part: 'clamd', clamd, lanes: connections, messages }))
    seen.ours.push(await runTask<SmtpLoadResult>({ ...load, messages, maxSeconds: roundSeconds }))
  }
  answered += sumOf(seen.ours.map(our => our.count))
  const filed = (await ground.countMessages()) - before
  if (filed !== answered) throw new Error(`${answered} messages were answered 250 but ${filed} are filed`)
  const peakBytes = mailroom.peakBytes()
  await mailroom.stop()
  const rate = sumOf(seen.ours.map(our => our.count)) / sumOf(seen.ours.map(our => our.seconds))
  const limits = { clamd: sumOf(seen.clamd) / rounds, mailauth, inserts }
  const ratios = seen.ours.map(({ count, seconds }, i) => Math.round((100 * count) / seconds / (seen.clamd[i] ?? 0)))
  return { ...figure(name, 0.6, { rate, limits, peakBytes }), note: `of clamd in each round: ${ratios.join(', ')} %` }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
