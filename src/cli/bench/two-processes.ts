import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMachineLimits } from '../../base/machine-limits.ts'
import { measureCpuTimes } from './cpu-time.ts'
import type { BenchEnvironment } from './environment.ts'
import { type Figure, figure, median, perItem } from './figure.ts'
import { packMessages } from './load/message-file.ts'
import type { SmtpLoadResult } from './load/smtp-load.ts'
import { childrenOf } from './memory.ts'
import { signedMessages } from './messages.ts'
import { type BenchProcess, type MailroomProcess, runTask, startMailroom, startTask } from './processes.ts'

const connections = 40
const rounds = 5
const roundSeconds = 20
/** Each of two processes gets half of the messages, and has to be as warm as one alone. */
const warmUps = { one: 2, two: 4 }

interface ComparedSize {
  readonly name: string
  readonly attachmentBytes: number
  readonly perRound: number
}

/** Past 256 KiB one process verifies and parses in a second thread: two of them are not compared with one core. */
const sizes: readonly ComparedSize[] = [
  { name: '5 KB', attachmentBytes: 0, perRound: 4000 },
  { name: '87 KB', attachmentBytes: 60_000, perRound: 1000 },
]

interface IngestRound {
  readonly rate: number
  /** The CPU time of each for one message. */
  readonly cpuMs: Readonly<Record<string, number>>
}

/**
 * The role smtp in two processes, compared with one, with a scanner that costs nothing. They take turns, with new messages each
 * time. Client, database and scanner run on the same cores: what all cores could do follows from the CPU time that a message
 * takes of all of them together, where one process receives it.
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
  const [one, two] = [await start(1), await start(2)]
  const figures: Figure[] = []
  for (const size of sizes) {
    const measure = (mailroom: MailroomProcess) => measureRound(environment, mailroom, scanner, size)
    for (let round = 0; round < warmUps.one; round++) await measure(one)
    for (let round = 0; round < warmUps.two; round++) await measure(two)
    const [ofOne, ofTwo]: [IngestRound[], IngestRound[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      ofOne.push(await measure(one))
      ofTwo.push(await measure(two))
    }
    figures.push(toFigure(size, ofOne, ofTwo, two.peakBytes()))
  }
  await Promise.all([one, two, scanner].map(child => child.stop()))
  return figures
}

async function measureRound(
  { folder, sender, serializedSender, mailbox, pids }: BenchEnvironment,
  mailroom: MailroomProcess,
  scanner: BenchProcess,
  { attachmentBytes, perRound }: ComparedSize,
): Promise<IngestRound> {
  const messages = join(folder, 'messages')
  writeFileSync(messages, packMessages(await signedMessages(sender, mailbox, perRound, attachmentBytes)))
  const ofMailroom = childrenOf(mailroom.pid).map((pid, i) => [`process ${i + 1}`, pid])
  const cpuSince = measureCpuTimes({
    Mailroom: mailroom.pid,
    ...Object.fromEntries(ofMailroom),
    MariaDB: pids.MariaDB,
    scanner: scanner.pid,
  })
  const { count, seconds, cpuMs } = await runTask<SmtpLoadResult>({
    ...{ task: 'smtp-load', port: mailroom.smtp ?? 0, connections, messages, maxSeconds: roundSeconds },
    ...{ from: `alice@${serializedSender.domain}`, to: mailbox },
  })
  const perMessage = perItem({ ...cpuSince(), client: cpuMs }, count)
  rmSync(messages)
  return { rate: count / seconds, cpuMs: perMessage }
}

function toFigure(
  { name }: ComparedSize,
  ofOne: readonly IngestRound[],
  ofTwo: readonly IngestRound[],
  peakBytes: number,
): Figure {
  const { cores } = readMachineLimits()
  const one = median(ofOne.map(round => round.rate))
  const allCores = (cores * 1000) / totalCpuMs(ofOne)
  const rate = median(ofTwo.map(round => round.rate))
  const percentOf = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`
  return {
    ...figure(`ingest, ${name}, two processes`, 1.7, {
      rate,
      limits: { 'one process': one, 'all cores': allCores },
      peakBytes,
    }),
    note:
      `${cores} cores could do ${percentOf(allCores, one)} of one process, at ${totalCpuMs(ofOne).toFixed(2)} ms of CPU time for ` +
      `a message; two processes reach ${percentOf(rate, allCores)} of that, at ${totalCpuMs(ofTwo).toFixed(2)} ms`,
  }
}

/** The CPU time of all together for a message. */
function totalCpuMs(rounds: readonly IngestRound[]): number {
  return median(rounds.map(({ cpuMs }) => Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0)))
}
