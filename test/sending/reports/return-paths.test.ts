import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import pino from 'pino'
import { systemClock } from '../../../src/base/clock.ts'
import type { DatabaseSchema } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { newId } from '../../../src/base/ids.ts'
import { selectVerifiedReturnPaths } from '../../../src/domains/return-path-table.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { presetOf } from '../../../src/ports/provider/smarthost/presets.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { newReturnPaths, type ReturnPathSource } from '../../../src/sending/reports/return-path.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type RelayedMessage, type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys, testSecrets } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'

const returnPaths = newReturnPaths(testSecrets)
const ours: ReturnPathSource = { returnPaths, findHosts: selectVerifiedReturnPaths, ownHost: 'mx.ours.test' }

let database: FreshDatabase
let relay: ScriptedRelay
let sender: SendingDomain
const open: (() => Promise<void>)[] = []

beforeAll(async () => {
  database = await freshDatabase(12)
  relay = await startScriptedRelay()
  sender = await createSendingDomain(database.db, systemClock.now())
})
afterAll(async () => {
  await relay.close()
  await database.close()
})
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
  await database.db.deleteFrom('domain_records').execute()
})

/** Sends one email to these recipients; what the relay took, in the order of the recipients. */
async function relayed(
  to: readonly string[],
  reversePaths: ReturnPathSource,
  preset: 'postfix' | 'postmark' = 'postfix',
) {
  const { db } = database
  const blobs = mysqlBlobs(db, systemClock)
  const [emailId] = await insertAcceptedEmails(db, blobs, sender, systemClock.now(), [{ to }])
  if (!emailId) throw new Error('nothing was accepted')
  const provider = testSmarthost(relay.url, { preset: presetOf(preset, true) })
  const log = pino({ level: 'silent' })
  const worker = startRelay({
    db,
    blobs,
    provider,
    signingKeys,
    reversePaths,
    clock: systemClock,
    log,
    attemptMs: 5000,
    retryFirstMs: 50,
  })
  open.push(async () => {
    await worker.stop()
    await provider.close()
  })
  const submitted = () => relay.accepted.filter(message => to.includes(message.to[0] ?? ''))
  await until(() => submitted().length >= to.length, { what: 'all are submitted' })
  const messages = to.map(address => submitted().find(message => message.to[0] === address) as RelayedMessage)
  return { emailId, from: messages.map(message => message.from) }
}

const records = {
  mx: { type: 'MX', value: 'mx.ours.test', priority: 10 },
  txt: { type: 'TXT', value: 'v=spf1 a:mx.ours.test ~all', priority: null },
} as const

async function publish(
  status: Readonly<Record<keyof typeof records, DatabaseSchema['domain_records']['status']>>,
): Promise<void> {
  for (const kind of ['mx', 'txt'] as const)
    await database.db
      .insertInto('domain_records')
      .values({
        ...records[kind],
        id: newId('rec'),
        domain_id: sender.domainId,
        purpose: 'return_path',
        name: `mr-bounces.${sender.domain}`,
        required: 0,
        status: status[kind],
        found: '[]',
        checked_at: null,
      })
      .execute()
}

function placeOf(address: string) {
  return returnPaths.read(address.split('@')[0] ?? '')
}

const unique = (name: string) => `${name}-${randomBytes(4).toString('hex')}@x.test`

function places(emailId: Id<'eml'>, count: number) {
  return Array.from({ length: count }, (_, position) => ({ emailId, position }))
}

test('each recipient has its own reverse-path, at our host', async () => {
  const { emailId, from } = await relayed([unique('a'), unique('b'), unique('c')], ours)
  expect(from.map(placeOf)).toEqual(places(emailId, 3))
  for (const address of from) {
    expect(address).toEndWith('@mx.ours.test')
    expect(address.split('@')[0]?.length).toBeLessThanOrEqual(64)
  }
}, 20_000)

test('it is at the domain’s return-path host once all its records are verified', async () => {
  await publish({ mx: 'verified', txt: 'pending' })
  expect((await relayed([unique('a')], ours)).from[0]).toEndWith('@mx.ours.test')
  await database.db.updateTable('domain_records').set({ status: 'verified' }).execute()
  const { emailId, from } = await relayed([unique('b')], ours)
  expect(from[0]).toEndWith('@mr-bounces.shop.test')
  expect(from.map(placeOf)).toEqual(places(emailId, 1))
}, 20_000)

test('it is the From address when our host cannot receive mail', async () => {
  expect((await relayed([unique('a')], { ...ours, ownHost: undefined })).from).toEqual(['hello@shop.test'])
}, 20_000)

test('it is the From address when the provider replaces it', async () => {
  expect((await relayed([unique('a')], ours, 'postmark')).from).toEqual(['hello@shop.test'])
}, 20_000)
