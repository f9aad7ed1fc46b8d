import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildTask } from './child-process.ts'
import { measureCpuTimes } from './cpu-time.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, perItem } from './figure.ts'
import { packMessages } from './load/message-file.ts'
import type { SmtpLoadResult } from './load/smtp-load.ts'
import { signedMessages } from './messages.ts'
import { runTask, startMailroom } from './processes.ts'

/** Small messages before each measurement: until then the JIT compiler uses part of the processors. */
const warmUpMessages = 16_000
/**
 * clamd alone and Mailroom take turns of a few seconds: how fast a file system creates and removes clamd's files depends on
 * how many were removed in the last minutes, and both have to find it in the same state.
 */
const roundSeconds = 3.5

interface Size {
  readonly name: string
  readonly attachmentBytes: number
  readonly connections: number
  readonly rounds: number
  /** More than are sent in the seconds of a round, or all that fit into memory. */
  readonly perRound: number
}

const sizes: readonly Size[] = [
  { name: 'ingest, 5 KB', attachmentBytes: 0, connections: 20, rounds: 8, perRound: 4000 },
  { name: 'ingest, 87 KB', attachmentBytes: 60_000, connections: 20, rounds: 8, perRound: 900 },
  { name: 'ingest, 4 MB', attachmentBytes: 2_950_000, connections: 4, rounds: 4, perRound: 24 },
]

/** Signed messages over reused connections, through all checks to a committed row; limits and rate take turns. */
export async function measureIngest(environment: BenchEnvironment): Promise<Figure[]> {
  const figures: Figure[] = []
  const warmUp = join(environment.folder, 'warm-up')
  writeFileSync(warmUp, packMessages(await signedMessages(environment.sender, environment.mailbox, warmUpMessages, 0)))
  for (const size of sizes) {
    const files = await writeRounds(environment, size)
    figures.push(await measureSize(environment, size, warmUp, files))
    for (const file of files) rmSync(file)
  }
  return figures
}

/** A file of messages for each round. */
async function writeRounds(
  { folder, sender, mailbox }: BenchEnvironment,
  { rounds, perRound, attachmentBytes }: Size,
): Promise<readonly string[]> {
  const files: string[] = []
  for (let round = 0; round < rounds; round++) {
    const file = join(folder, `messages-${round}`)
    writeFileSync(file, packMessages(await signedMessages(sender, mailbox, perRound, attachmentBytes)))
    files.push(file)
  }
  return files
}

async function measureSize(
  environment: BenchEnvironment,
  { name, connections }: Size,
  warmUp: string,
  files: readonly string[],
): Promise<Figure> {
  const { clamd, databaseUrl, pids, serializedSender: sender } = environment
  const mailroom = await startMailroom({ ...environment.env, MAILROOM_ROLES: 'smtp' })
  const envelope = { from: `alice@${sender.domain}`, to: environment.mailbox }
  const load = { task: 'smtp-load', port: mailroom.smtp ?? 0, connections, ...envelope } as const
  const rateOf = async (task: ChildTask) => (await runTask<{ rate: number }>(task)).rate
  const before = await environment.countMessages()
  // From another sender each time: the same message from the same sender is filed once.
  const warmUpLoad = { ...load, from: `${name.replace(/\W/g, '')}@${sender.domain}`, messages: warmUp, maxSeconds: 60 }
  const warmedUp = await runTask<SmtpLoadResult>(warmUpLoad)
  const [first = ''] = files
  const mailauth = await rateOf({ task: 'mailauth', sender, messages: first })
  const inserts = await rateOf({ task: 'inserts', databaseUrl, connections, messages: first })
  const clamdRates: number[] = []
  const rounds: {
    readonly count: number
    readonly seconds: number
    readonly cpuMs: Readonly<Record<string, number>>
  }[] = []
  for (const messages of files) {
    clamdRates.push(await rateOf({ task: 'clamd', clamd, connections, messages }))
    const cpuSince = measureCpuTimes({ Mailroom: mailroom.pid, ...pids })
    const result = await runTask<SmtpLoadResult>({ ...load, messages, maxSeconds: roundSeconds })
    rounds.push({ ...result, cpuMs: cpuSince() })
  }
  const count = sumOf(rounds.map(round => round.count))
  const accepted = warmedUp.count + count
  const filed = (await environment.countMessages()) - before
  if (filed !== accepted) throw new Error(`${accepted} messages were accepted with 250 but ${filed} are stored`)
  const peakBytes = mailroom.peakBytes()
  await mailroom.stop()
  const rate = count / sumOf(rounds.map(round => round.seconds))
  const limits = { clamd: sumOf(clamdRates) / files.length, mailauth, inserts }
  const cpuMs = perItem(sumsOf(rounds.map(round => round.cpuMs)), count)
  const ratios = rounds.map(({ count, seconds }, i) => Math.round((100 * count) / seconds / (clamdRates[i] ?? 0)))
  return {
    ...figure(name, 0.6, { rate, limits, peakBytes, cpuMs }),
    note: `of clamd in each round: ${ratios.join(', ')} %`,
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, value) => sum + value, 0)
}

/** The sums of what has the same name. */
function sumsOf(records: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const names = Object.keys(records[0] ?? {})
  return Object.fromEntries(names.map(name => [name, sumOf(records.map(record => record[name] ?? 0))]))
}
