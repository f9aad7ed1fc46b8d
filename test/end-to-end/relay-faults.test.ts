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

interface Installation {
  readonly mailroom: Mailroom
  readonly provider: ScriptedRelay
}

const folder = makeMemoryFolder('mailroom-relay-faults-')
const sharedUrl = process.env['MAILROOM_TEST_DATABASE_URL']
let mariadb: PrivateMariadb
let installations: readonly Installation[] = []

async function install(): Promise<Installation> {
  const provider = await startScriptedRelay({ dotAfterMs: 300 })
  const mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: provider.url,
    MAILROOM_SMARTHOST_CONNECTIONS: '6',
  })
  return { mailroom, provider }
}

beforeAll(async () => {
  // A server of its own, which is stopped.
  mariadb = await startMariadb({ folder })
  process.env['MAILROOM_TEST_DATABASE_URL'] = mariadb.url
  const ofStopped = await install()
  process.env['MAILROOM_TEST_DATABASE_URL'] = sharedUrl ?? ''
  installations = [ofStopped, await install()]
}, 90_000)

afterAll(async () => {
  for (const { mailroom, provider } of installations) {
    await mailroom.stop()
    await provider.close()
  }
  await mariadb?.stop()
  rmSync(folder, { recursive: true, force: true })
}, 90_000)

// At once, each with an installation of its own: most of their time is the fault's.
for (const [i, [name, pidOf]] of (
  [
    ['the database is stopped', () => mariadb.pid],
    ['the process is paused', ({ mailroom }: Installation) => mailroom.pid],
  ] as const
).entries())
  test.concurrent(`no email reaches the provider twice while ${name} for 40 seconds`, async () => {
    const installation = installations[i]
    if (!installation) throw new Error('it is not installed')
    const { mailroom, provider } = installation
    for (let n = 0; n < count; n++) {
      const email = { from: 'hello@demo.test', to: `u${n}@d${n % 3}.test`, subject: 'Hello', text: 'Hello' }
      expect((await mailroom.api('POST', '/v1/emails', email)).status).toBe(202)
    }
    await until(() => provider.accepted.length >= 8, { what: 'it submits' })
    const pid = pidOf(installation)
    process.kill(pid, 'SIGSTOP')
    // The fault lasts that long.
    await Bun.sleep(faultMs)
    process.kill(pid, 'SIGCONT')
    const waiting = mailroom.database.db.selectFrom('outbox').select('id').limit(1)
    await until(async () => (await waiting.execute()).length === 0, { what: 'all are sent', withinMs: 60_000 })
    const copies = Array.from(groupByEmail(provider.accepted).values(), messages => messages.length)
    expect(copies).toEqual(Array.from({ length: count }, () => 1))
  }, 150_000)
