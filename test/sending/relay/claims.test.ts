import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { registry } from '../../../src/base/observability/metrics.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase(12)
})
afterAll(() => database.close())

async function claimCount(): Promise<number> {
  const metric = await registry.getSingleMetric('mailroom_step_seconds')?.get()
  const values = metric?.values as
    | { metricName?: string; labels: { readonly step?: unknown }; value: number }[]
    | undefined
  const found = values?.find(({ metricName, labels }) => metricName?.endsWith('_count') && labels.step === 'claim')
  return found?.value ?? 0
}

test('emails that keep coming from many clients are claimed together', async () => {
  const { db } = database
  const blobs = mysqlBlobs(db, systemClock)
  const smarthost = await startScriptedRelay()
  const provider = testSmarthost(smarthost.url, { connections: 4 })
  const from = await createSendingDomain(db, systemClock.now())
  const relay = startRelay({
    ...{ db, blobs, provider, signingKeys, clock: systemClock, log: pino({ level: 'silent' }) },
    ...{ attemptMs: 5000, retryFirstMs: 50 },
  })
  try {
    const before = await claimCount()
    const began = performance.now()
    let accepted = 0
    while (performance.now() - began < 1000) {
      await insertAcceptedEmails(db, blobs, from, systemClock.now(), [{}, {}])
      accepted += 2
      relay.wake()
    }
    await until(() => smarthost.accepted.length === accepted, { what: 'all are sent' })
    // Every 25 ms, and some more while there is no room; otherwise it would be one for each two emails.
    expect((await claimCount()) - before).toBeLessThanOrEqual((2 * (performance.now() - began)) / 25)
  } finally {
    await relay.stop()
    await provider.close()
    await smarthost.close()
  }
})

test('emails accepted during a backlog for which there is no room cost few claims, and other flows do not wait', async () => {
  const { db } = database
  const blobs = mysqlBlobs(db, systemClock)
  const smarthost = await startScriptedRelay({ dotAfterMs: to => (to[0]?.endsWith('@backlog.test') ? 400 : 0) })
  const provider = testSmarthost(smarthost.url, { connections: 4 })
  const from = await createSendingDomain(db, systemClock.now())
  const accept = (to: string, count: number) =>
    insertAcceptedEmails(
      ...([db, blobs, from, systemClock.now()] as const),
      Array.from({ length: count }, () => ({ to: [to] })),
    )
  await accept('person@backlog.test', 200)
  const relay = startRelay({
    ...{ db, blobs, provider, signingKeys, clock: systemClock, log: pino({ level: 'silent' }) },
    ...{ attemptMs: 5000, retryFirstMs: 50 },
  })
  try {
    await until(() => smarthost.accepted.length >= 4, { what: 'the backlog is being sent' })
    const before = await claimCount()
    const began = performance.now()
    while (performance.now() - began < 1000) {
      relay.wake()
      await Bun.sleep(1)
    }
    expect((await claimCount()) - before).toBeLessThanOrEqual(1000 / 25 + 10)
    await accept('person@other.test', 1)
    const accepted = performance.now()
    relay.wake()
    await until(() => smarthost.accepted.some(({ to }) => to[0] === 'person@other.test'), { what: 'the other is sent' })
    expect(performance.now() - accepted).toBeLessThan(1000)
  } finally {
    await relay.stop()
    await provider.close()
    await smarthost.close()
  }
})
