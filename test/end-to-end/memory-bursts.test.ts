import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { amount, isLong } from '../harness/amount.ts'
import type { Burst, BurstResult } from '../harness/burst-load.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

/**
 * Bursts of mail in both directions. By default they are small; in the long form they are those of a busy installation,
 * which take some twenty minutes.
 */
const size = amount({
  short: { smtpClients: 50, messages: 250, httpClients: 16, emails: 120 },
  long: { smtpClients: 200, messages: 8000, httpClients: 64, emails: 5000 },
})
const bursts = amount({ short: 4, long: 5 })
/** Bun collects all garbage once the heap has been quiet for ten seconds; a process gives more back after a quiet minute. */
const longRestMs = amount({ short: 13_000, long: 90_000 })
const shortRestMs = 1000

const maxPeakBytes = 400 * 1024 * 1024
/** After a quiet minute some 40 MB above what a process has that just began; else what the last burst has compiled is there. */
const maxRestBytes = amount({ short: 260, long: 215 }) * 1024 * 1024
/** Two rests differ by as much without anything having stayed. */
const toleranceBytes = 20 * 1024 * 1024

let relay: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  relay = await startScriptedRelay()
  mailroom = await startMailroom({
    // A client that comes again may be counted twice for a moment.
    MAILROOM_MAX_SESSIONS: '400',
    MAILROOM_MAX_SESSIONS_PER_ADDRESS: '400',
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
  })
}, 60_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

/** Runs a burst from a process of its own. */
async function run(burst: Burst): Promise<BurstResult> {
  const program = join(import.meta.dir, '../harness/burst-load.ts')
  const child = Bun.spawn([process.execPath, program, JSON.stringify(burst)], { stdout: 'pipe', stderr: 'inherit' })
  return JSON.parse(await new Response(child.stdout).text())
}

/** Waits until everything is relayed and indexed. */
async function untilDone(): Promise<void> {
  const { db } = mailroom.database
  const isDone = async () => {
    const waiting = await db.selectFrom('outbox').select('id').limit(1).execute()
    const unindexed = await db.selectFrom('messages').select('id').where('indexed', '=', 0).limit(1).execute()
    return waiting.length + unindexed.length === 0
  }
  await until(isDone, { what: 'everything is relayed and indexed', withinMs: 600_000 })
}

const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed()

test(`uses no more memory after ${bursts} bursts than after two, and little in each`, async () => {
  const peaks: number[] = []
  const rests: number[] = []
  for (let burst = 1; burst <= bursts; burst++) {
    const begunMs = performance.now()
    mailroom.resetPeakMemory()
    const result = await run({ ...size, smtpPort: mailroom.smtp, http: mailroom.http, key: mailroom.key })
    expect(result).toEqual({ accepted: size.messages, sent: size.emails, others: {} })
    await untilDone()
    const seconds = ((performance.now() - begunMs) / 1000).toFixed()
    relay.accepted.length = 0
    relay.commands.length = 0
    const isCompared = burst === 2 || burst === bursts
    await Bun.sleep(isCompared || isLong ? longRestMs : shortRestMs)
    const peak = mailroom.resetPeakMemory()
    // The peak of no time at all is the present size.
    const rest = mailroom.resetPeakMemory()
    peaks.push(peak)
    if (isCompared) rests.push(rest)
    process.stdout.write(`burst ${burst}: ${seconds} s, peak ${megabytes(peak)} MB, then ${megabytes(rest)} MB\n`)
  }
  expect(Math.max(...peaks)).toBeLessThan(maxPeakBytes)
  expect(Math.max(...rests)).toBeLessThan(maxRestBytes)
  expect((rests[1] ?? 0) - (rests[0] ?? 0)).toBeLessThan(toleranceBytes)
}, 3_600_000)
