import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expireLeases } from '../harness/claim.ts'
import { type Mailroom, type MailroomProcess, startMailroom } from '../harness/mailroom.ts'
import { groupByEmail } from '../harness/relayed-messages.ts'
import { messageIdOf, retryUntilSettled, startRetryingClients } from '../harness/retrying-clients.ts'
import { type ScriptedRelay, startScriptedRelay } from '../harness/scripted-relay.ts'

const count = 300
const connections = 4

let relay: ScriptedRelay
let mailroom: Mailroom
let doors: Record<'http' | 'smtp' | 'relay', MailroomProcess[]>

beforeAll(async () => {
  relay = await startScriptedRelay({ dotAfterMs: 15 })
  mailroom = await startMailroom({
    MAILROOM_PROVIDER: 'smarthost',
    MAILROOM_SMARTHOST_URL: relay.url,
    MAILROOM_SMARTHOST_CONNECTIONS: String(connections),
  })
  // The domain and the key are made; from now on each process does one thing.
  await mailroom.kill('SIGTERM')
  const pair = (role: string) => Promise.all([1, 2].map(() => mailroom.startSecondProcess({ MAILROOM_ROLES: role })))
  doors = { http: await pair('http'), smtp: await pair('smtp'), relay: await pair('relay') }
}, 90_000)

afterAll(async () => {
  await mailroom?.stop()
  await relay?.close()
}, 60_000)

test('two processes of each role share a database: one of each is killed under load, and nothing is lost', async () => {
  let turn = 0
  const next = (processes: readonly MailroomProcess[]) => processes[turn++ % processes.length] as MailroomProcess
  const { acceptedEmails, acceptedMessages, done } = startRetryingClients({
    count,
    clientsPerProtocol: 4,
    key: mailroom.key,
    http: () => next(doors.http).http,
    smtp: () => next(doors.smtp).smtp,
  })
  for (const role of ['smtp', 'http', 'relay'] as const) {
    const more = acceptedEmails.size + acceptedMessages.size + count / 4
    await retryUntilSettled(
      async () => acceptedEmails.size + acceptedMessages.size >= more || undefined,
      `load before the kill of ${role}`,
    )
    const killed = doors[role].shift() as MailroomProcess
    await killed.kill('SIGKILL')
    // The minute for which a dead process holds the keys of its requests is over.
    await mailroom.database.db
      .updateTable('idempotency_keys')
      .set(({ ref }) => ({ leased_until: ref('created_at') }))
      .where('status', 'is', null)
      .execute()
    if (role === 'relay') await expireLeases(mailroom.database.db)
  }
  await done
  expect([acceptedEmails.size, acceptedMessages.size]).toEqual([count, count])

  const { db } = mailroom.database
  const messages = await db.selectFrom('messages').select('message_id').execute()
  const ids = Array.from({ length: count }, (_, i) => messageIdOf(i)).sort()
  expect(messages.map(message => message.message_id ?? '').sort()).toEqual(ids)

  const left = db.selectFrom('outbox').select('id')
  await retryUntilSettled(
    async () => (await left.execute()).length === 0 || undefined,
    'what the killed relay had taken',
  )
  const emails = await db.selectFrom('emails').select(['id', 'status']).execute()
  expect(emails.map(email => email.id).sort()).toEqual(
    [...acceptedEmails.values()].sort() as (typeof emails)[number]['id'][],
  )
  expect(new Set(emails.map(email => email.status))).toEqual(new Set(['sent'] as const))

  // Twice only what the killed relay had in submission, or had not written yet.
  const copies = [...groupByEmail(relay.accepted).values()].map(messages => messages.length)
  expect(copies.length).toBe(count)
  expect(Math.max(...copies)).toBeLessThanOrEqual(2)
}, 120_000)

test('a relay process that joins claims nothing that the other has: each email reaches the provider once', async () => {
  const again = await mailroom.startSecondProcess({ MAILROOM_ROLES: 'relay' })
  doors.relay.push(again)
  const before = relay.accepted.length
  const { done } = startRetryingClients({
    count: 100,
    clientsPerProtocol: 4,
    key: mailroom.key,
    http: () => (doors.http[0] as MailroomProcess).http,
    smtp: () => (doors.smtp[0] as MailroomProcess).smtp,
  })
  await done
  await retryUntilSettled(async () => relay.accepted.length - before >= 100 || undefined, 'the rest')
  expect(relay.accepted.length - before).toBe(100)
}, 60_000)
