import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { BlobStore } from '../../../src/ports/blobs/port.ts'
import { type Relay, startRelay } from '../../../src/sending/relay/relay.ts'
import {
  createSendingDomain,
  insertAcceptedEmails,
  type SendingDomain,
  storedMessage,
} from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'

const connections = 10
/** What the provider takes for a message to slow.test. */
const slowMs = 5000
const backlogOfSlow = 5000
const wantedMs = 2000

let database: FreshDatabase
let blobs: BlobStore

beforeAll(async () => {
  database = await freshDatabase(12)
  blobs = mysqlBlobs(database.db, systemClock)
})
afterAll(() => database.close())

const accept = (from: SendingDomain, to: readonly string[], id?: string) =>
  insertAcceptedEmails(database.db, blobs, from, systemClock.now(), [
    { to, ...(id !== undefined && { message: storedMessage(id, 'undisclosed@x.test') }) },
  ])

/** How long single emails, one every 200 ms, take from their acceptance to the provider: sorted, in milliseconds. */
async function delaysOf(relay: Relay, senders: readonly SendingDomain[], accepted: ReadonlyMap<string, number>) {
  const began = new Map<string, number>()
  for (let i = 0; i < 60; i++) {
    for (const [j, from] of senders.entries()) {
      const to = `single${i}@fast${j}.test`
      await accept(from, [to])
      began.set(to, performance.now())
      relay.wake()
    }
    // The pace at which they come.
    await Bun.sleep(200)
  }
  const addresses = [...began.keys()]
  await until(() => addresses.every(address => accepted.has(address)), { what: 'all are sent', withinMs: 60_000 })
  return senders.map((_, j) =>
    addresses
      .filter(address => address.endsWith(`@fast${j}.test`))
      .map(address => (accepted.get(address) ?? 0) - (began.get(address) ?? 0))
      .sort((a, b) => a - b),
  )
}

test('a backlog to a domain that takes 5 s a message delays neither another organization nor the other domains of its own', async () => {
  const accepted = new Map<string, number>()
  let slowAtOnce = 0
  let mostSlowAtOnce = 0
  const provider = await startScriptedRelay({
    rcpt: to => {
      if (to.endsWith('@slow.test')) mostSlowAtOnce = Math.max(mostSlowAtOnce, ++slowAtOnce)
      return '250 ok'
    },
    dotAfterMs: ([to = '']) => {
      accepted.set(to, performance.now())
      if (!to.endsWith('@slow.test')) return 20
      setTimeout(() => slowAtOnce--, slowMs)
      return slowMs
    },
  })
  const [big, small] = [
    await createSendingDomain(database.db, systemClock.now()),
    await createSendingDomain(database.db, systemClock.now()),
  ]
  const recipientsPerEmail = 250
  for (let i = 0; i < backlogOfSlow / recipientsPerEmail; i++)
    await accept(
      big,
      Array.from({ length: recipientsPerEmail }, (_, j) => `u${i}-${j}@slow.test`),
      `backlog-${i}`,
    )
  const smarthost = testSmarthost(provider.url, { connections, attemptTimeoutMs: 20_000 })
  const relay = startRelay({
    db: database.db,
    blobs,
    provider: smarthost,
    signingKeys,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    attemptMs: 20_000,
    retryFirstMs: 1000,
  })
  try {
    await until(() => slowAtOnce >= 4, { what: 'the backlog is being sent' })
    const delays = await delaysOf(relay, [small, big], accepted)
    for (const [j, name] of ['another organization', 'its own other domain'].entries()) {
      const sorted = delays[j] ?? []
      const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
      process.stdout.write(`${name}: median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms\n`)
      expect(worst).toBeLessThan(wantedMs)
    }
    // The backlog has what is left.
    expect(mostSlowAtOnce).toBeGreaterThanOrEqual(connections - 2)
    expect(mostSlowAtOnce).toBeLessThan(connections)
  } finally {
    await relay.stop()
    await smarthost.close()
    await provider.close()
  }
}, 120_000)
