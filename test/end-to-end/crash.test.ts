import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import { fromJson } from '../../src/base/database/schema.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { amount } from '../harness/amount.ts'
import { expireLeases } from '../harness/claim.ts'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail, headerValues, unstuffed } from '../harness/relayed-messages.ts'
import { messageIdOf, messageOf, retryUntilSettled, startRetryingClients } from '../harness/retrying-clients.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'
import { until } from '../harness/until.ts'

/** Emails over HTTP, and as many messages over SMTP. */
const count = amount({ short: 400, long: 1000 })
const clientsEach = 4
const kills = 3
const connections = 8
/** The most that a relay can accept of which there is no record at the kill: one message a connection. */
const maxAmbiguous = connections
const downMs = 100

let relay: ScriptedRelay
let mailroom: Mailroom
let restarting: Promise<void> = Promise.resolve()

beforeAll(async () => {
  relay = await startScriptedRelay({ dotAfterMs: 15 })
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_SMARTHOST_CONNECTIONS: String(connections),
  })
}, 60_000)

afterAll(async () => {
  await restarting
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

/** How many emails the relay accepted since `since` of which the dead process made no record. */
async function ambiguousSince(since: number): Promise<number> {
  await relay.dropConnections()
  // Time for a commit in progress; nothing shows that there is none.
  await Bun.sleep(300)
  const rows = await mailroom.database.db.selectFrom('emails').select('id').where('status', '=', 'sent').execute()
  const noted = await mailroom.database.db
    .selectFrom('outbox')
    .select('email_id as id')
    .where('accepted', 'is not', null)
    .execute()
  const sent = new Set<string>([...rows, ...noted].map(row => row.id))
  return Array.from(groupByEmail(relay.accepted.slice(since)).keys()).filter(id => !sent.has(id)).length
}

test(`killed ${kills} times while it accepts ${count} emails and ${count} messages, it loses nothing it acknowledged`, async () => {
  const { acceptedEmails, acceptedMessages, done } = startRetryingClients({
    count,
    clientsPerProtocol: clientsEach,
    key: mailroom.key,
    http: () => mailroom.http,
    smtp: () => mailroom.smtp,
  })

  const ambiguous: number[] = []
  const acknowledged = () => acceptedEmails.size + acceptedMessages.size
  for (let kill = 0, since = 0; kill < kills; kill++) {
    const at = ((kill + 0.2 + 0.6 * Math.random()) / kills) * 2 * count
    await until(() => acknowledged() >= at, { withinMs: 100_000 })
    // Killed at a random moment.
    await Bun.sleep(50 * Math.random())
    expect(acknowledged()).toBeLessThan(2 * count)
    await mailroom.kill('SIGKILL')
    ambiguous.push(await ambiguousSince(since))
    since = relay.accepted.length
    // As if the leases of the dead process on idempotency keys had expired.
    await mailroom.database.db
      .updateTable('idempotency_keys')
      .set(({ ref }) => ({ leased_until: ref('created_at') }))
      .where('status', 'is', null)
      .execute()
    await expireLeases(mailroom.database.db)
    await Bun.sleep(downMs * Math.random())
    restarting = mailroom.restart()
    await restarting
  }
  await done

  expect(acceptedMessages.size).toBe(count)
  expect(acceptedEmails.size).toBe(count)
  await expectMessagesKept()
  await expectEmailsSent(acceptedEmails, ambiguous)
}, 120_000)

/** Each message is stored once and complete, however often it was sent. */
async function expectMessagesKept(): Promise<void> {
  const { db } = mailroom.database
  const rows = await db.selectFrom('messages').select(['message_id', 'organization_id', 'blob_id']).execute()
  const kept = new Map(rows.map(row => [row.message_id, row]))
  const missing = Array.from({ length: count }, (_, i) => messageIdOf(i)).filter(id => !kept.has(id))
  expect(missing).toEqual([])
  expect(rows).toHaveLength(count)
  const blobs = mysqlBlobs(db, systemClock)
  for (let i = 0; i < count; i++) {
    const row = kept.get(messageIdOf(i))
    const bytes = row && (await blobs.readWhole(row.organization_id, row.blob_id))
    expect(bytes?.toString()).toBe(messageOf(i))
  }
}

/** Each email is stored once and was relayed; twice only if it was in flight in a kill, and then identical. */
async function expectEmailsSent(accepted: ReadonlyMap<number, string>, ambiguous: readonly number[]): Promise<void> {
  const { db } = mailroom.database
  await retryUntilSettled(async () => {
    const left = await db.selectFrom('outbox').select('id').execute()
    return left.length === 0 || undefined
  }, 'what the killed processes had taken')

  const emails = await db.selectFrom('emails').select(['id', 'subject', 'status']).execute()
  const byNumber = Array.from(accepted, ([i, id]) => ({ id, subject: `Email ${i}`, status: 'sent' }))
  const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1)
  expect([...emails].sort(byId)).toEqual(byNumber.sort(byId) as typeof emails)

  const atRelay = groupByEmail(relay.accepted)
  expect([...accepted.values()].filter(id => !atRelay.has(id))).toEqual([])
  const copies = Array.from(atRelay.values(), messages => messages.map(unstuffed))
  for (const copy of copies) {
    expect(new Set(copy.flatMap(text => headerValues(text, 'Message-ID'))).size).toBe(1)
    expect(new Set(copy.flatMap(text => headerValues(text, 'Date'))).size).toBe(1)
  }
  const events = await db.selectFrom('email_events').select(['email_id', 'extra']).where('type', '=', 'sent').execute()
  const told = new Set<string>(events.filter(row => fromJson(row.extra)['ambiguous']).map(row => row.email_id))
  const twice = Array.from(atRelay).filter(([, messages]) => messages.length > 1)
  expect(twice.filter(([id]) => !told.has(id))).toEqual([])
  const again = relay.accepted.length - atRelay.size
  process.stdout.write(
    `submitted again: ${again}; at the relay but not written at each kill: ${ambiguous.join(', ')}\n`,
  )
  expect(again).toBe(ambiguous.reduce((sum, value) => sum + value))
  expect(Math.max(...ambiguous)).toBeLessThanOrEqual(maxAmbiguous)
}
