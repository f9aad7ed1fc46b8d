import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { type PrivateMariadb, startMariadb } from '../../src/cli/private/mariadb.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { makeMemoryFolder } from '../harness/memory-folder.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

/** Longer than a lease, and than a statement may take. */
const faultMs = 40_000
const count = 60

const folder = makeMemoryFolder('mailroom-relay-faults-')
const sharedUrl = process.env['MAILROOM_TEST_DATABASE_URL']
let mariadb: PrivateMariadb
let provider: ScriptedRelay
let mailroom: Mailroom

beforeAll(async () => {
  // A server of its own, which is stopped.
  mariadb = await startMariadb({ folder })
  process.env['MAILROOM_TEST_DATABASE_URL'] = mariadb.url
  provider = await startScriptedRelay({ dotAfterMs: 300 })
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: provider.url,
    MAILROOM_SMARTHOST_CONNECTIONS: '6',
  })
}, 90_000)

afterAll(async () => {
  await mailroom?.stop()
  process.env['MAILROOM_TEST_DATABASE_URL'] = sharedUrl ?? ''
  await provider?.close()
  await mariadb?.stop()
  rmSync(folder, { recursive: true, force: true })
}, 90_000)

for (const [name, pidOf] of [
  ['the database is stopped', () => mariadb.pid],
  ['the process is paused', () => mailroom.pid],
] as const)
  test(`no email reaches the provider twice while ${name} for 40 seconds`, async () => {
    provider.accepted.length = 0
    for (let i = 0; i < count; i++) {
      const email = { from: 'hello@demo.test', to: `u${i}@d${i % 3}.test`, subject: 'Hello', text: 'Hello' }
      expect((await mailroom.api('POST', '/v1/emails', email)).status).toBe(202)
    }
    await until(() => provider.accepted.length >= 8, { what: 'it submits' })
    process.kill(pidOf(), 'SIGSTOP')
    // The fault lasts that long.
    await Bun.sleep(faultMs)
    process.kill(pidOf(), 'SIGCONT')
    const waiting = mailroom.database.db.selectFrom('outbox').select('id').limit(1)
    await until(async () => (await waiting.execute()).length === 0, { what: 'all are sent', withinMs: 60_000 })
    const copies = Array.from(groupByEmail(provider.accepted).values(), messages => messages.length)
    expect(copies).toEqual(Array.from({ length: count }, () => 1))
  }, 150_000)
