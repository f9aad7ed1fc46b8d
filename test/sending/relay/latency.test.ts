import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'

/** Measures time, and so runs alone. */
let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase(12)
})
afterAll(() => database.close())

test('an idle relay submits an email within 100 ms of being woken', async () => {
  const { db } = database
  const blobs = mysqlBlobs(db, systemClock)
  const smarthost = await startScriptedRelay()
  const provider = testSmarthost(smarthost.url, { connections: 4 })
  const log = pino({ level: 'silent' })
  const relay = startRelay({
    db,
    blobs,
    provider,
    signingKeys,
    clock: systemClock,
    log,
    attemptMs: 5000,
    retryFirstMs: 50,
  })
  try {
    const from = await createSendingDomain(db, systemClock.now())
    const accept = () => insertAcceptedEmails(db, blobs, from, systemClock.now(), [{}])
    await accept()
    await until(() => smarthost.accepted.length === 1, { what: 'the first is sent' })
    // Time to become idle: the outcome is written, and the relay waits to be woken.
    await Bun.sleep(300)
    const latencies: number[] = []
    for (let i = 0; i < 5; i++) {
      // At another moment of its poll interval each time.
      await Bun.sleep(60)
      await accept()
      const started = performance.now()
      relay.wake()
      await until(() => smarthost.accepted.length === i + 2, { what: 'it is sent' })
      latencies.push(performance.now() - started)
    }
    expect(latencies.sort((a, b) => a - b)[2]).toBeLessThan(100)
  } finally {
    await relay.stop()
    await provider.close()
    await smarthost.close()
  }
})
