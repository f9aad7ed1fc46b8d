import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { dkimVerify } from 'mailauth/lib/dkim/verify'
import pino from 'pino'
import { millisecondsOf, plusMs, systemClock } from '../../../src/base/clock.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { newId } from '../../../src/base/ids.ts'
import { formatDate } from '../../../src/mail/date.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { BlobStore } from '../../../src/ports/blobs/port.ts'
import { updateSubmitting } from '../../../src/sending/relay/outbox.ts'
import { type Relay, type RelayDeps, startRelay } from '../../../src/sending/relay/relay.ts'
import { newSettlementWriter } from '../../../src/sending/relay/settlement.ts'
import {
  type AcceptedEmail,
  createSendingDomain,
  dkimRecord,
  insertAcceptedEmails,
  type SendingDomain,
  storedMessage,
} from '../../harness/accepted-emails.ts'
import { claimOldest } from '../../harness/claim.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type RelayScript, type ScriptedRelay, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
let blobs: BlobStore
const open: (() => Promise<void>)[] = []

beforeAll(async () => {
  database = await freshDatabase(12)
  blobs = mysqlBlobs(database.db, systemClock)
})
afterAll(() => database.close())
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
  await database.db.deleteFrom('outbox').execute()
})

const now = () => systemClock.now()

async function smarthost(script: RelayScript = {}): Promise<ScriptedRelay> {
  const relay = await startScriptedRelay(script)
  open.push(() => relay.close())
  return relay
}

function start(url: string, given: Partial<RelayDeps> & { readonly connections?: number } = {}): Relay {
  const { connections = 4, ...rest } = given
  const provider = testSmarthost(url, { connections })
  const relay = startRelay({
    db: database.db,
    blobs,
    provider,
    signingKeys,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    attemptMs: 5000,
    retryFirstMs: 50,
    ...rest,
  })
  open.push(async () => {
    await relay.stop()
    await provider.close()
  })
  return relay
}

const sender = () => createSendingDomain(database.db, now())

async function accept(from: SendingDomain, ...emails: AcceptedEmail[]): Promise<readonly Id<'eml'>[]> {
  return insertAcceptedEmails(database.db, blobs, from, now(), emails)
}

async function accepted(from: SendingDomain, email: AcceptedEmail = {}): Promise<Id<'eml'>> {
  const [id] = await accept(from, email)
  if (!id) throw new Error('nothing was accepted')
  return id
}

const outboxOf = (emailId: Id<'eml'>) =>
  database.db.selectFrom('outbox').selectAll().where('email_id', '=', emailId).orderBy('position').execute()
const recipientsOf = (emailId: Id<'eml'>) =>
  database.db.selectFrom('email_recipients').selectAll().where('email_id', '=', emailId).orderBy('position').execute()
const eventsOf = (emailId: Id<'eml'>) =>
  database.db.selectFrom('email_events').selectAll().where('email_id', '=', emailId).orderBy('id').execute()
const emailOf = (emailId: Id<'eml'>) =>
  database.db.selectFrom('emails').selectAll().where('id', '=', emailId).executeTakeFirstOrThrow()
const isDone = async (emailId: Id<'eml'>) => (await outboxOf(emailId)).length === 0
const allDone = async () => (await database.db.selectFrom('outbox').select('id').limit(1).execute()).length === 0
const done = (emailId: Id<'eml'>) => until(() => isDone(emailId), { what: 'the email leaves the outbox' })

test('an accepted email is dated, signed, submitted and recorded as sent', async () => {
  const relay = await smarthost()
  const id = await accepted(await sender(), { to: ['a@x.test'] })
  start(relay.url)
  await done(id)
  const [taken] = relay.accepted
  expect(taken).toMatchObject({ from: 'hello@shop.test', to: ['a@x.test'] })
  const wire = taken?.wire.toString() ?? ''
  const email = await emailOf(id)
  const date = formatDate(millisecondsOf(email.created_at))
  expect(wire).toMatch(/^DKIM-Signature: v=1; .*\r\nDate: /s)
  expect(wire).toContain(`\r\nDate: ${date}\r\nFrom: Shop <hello@shop.test>\r\n`)
  const { results } = await dkimVerify(taken?.wire ?? '', {
    strict: true,
    resolver: async () => [[dkimRecord]],
  } as never)
  expect(results.map(result => [result.status.result, result.signingDomain])).toEqual([['pass', 'shop.test']])

  expect(await recipientsOf(id)).toMatchObject([{ status: 'sent', smtp_code: 250, enhanced_code: '2.0.0' }])
  expect(email).toMatchObject({ status: 'sent', provider_message_id: 'ABC123' })
  expect(email.sent_at).not.toBeNull()
  expect(await eventsOf(id)).toMatchObject([
    { type: 'sent', recipient: 'a@x.test', source: 'smtp', smtp_code: 250, detail: 'Ok: queued as ABC123' },
  ])
})

test('each recipient has its own submission and its own outcome', async () => {
  const relay = await smarthost({
    rcpt: to => (to === 'b@x.test' ? '550 5.1.1 no b' : to === 'c@x.test' ? '451 4.7.1 later' : '250 ok'),
    dot: message => (message.includes('Subject: Hello') ? '250 ok' : '554 no'),
  })
  const id = await accepted(await sender(), { to: ['a@x.test', 'b@x.test', 'c@x.test'] })
  start(relay.url, { retryFirstMs: 60_000 })
  await until(async () => (await eventsOf(id)).length === 3, { what: 'all were tried' })
  expect(
    (await recipientsOf(id)).map(recipient => [
      recipient.email,
      recipient.status,
      recipient.smtp_code,
      recipient.detail,
    ]),
  ).toEqual([
    ['a@x.test', 'sent', 250, 'ok'],
    ['b@x.test', 'bounced', 550, 'no b'],
    ['c@x.test', 'delayed', 451, 'later'],
  ])
  expect(await emailOf(id)).toMatchObject({ status: 'bounced', error: 'no b' })
  const bounce = (await eventsOf(id)).find(event => event.type === 'bounced')?.bounce
  expect(bounce && fromJson(bounce)).toEqual({ type: 'permanent', scope: 'recipient', suppressed: true })
  expect(await outboxOf(id)).toMatchObject([{ position: 2, attempts: 1, lease: null, last_reply: '451 4.7.1 later' }])
})

test('an email whose content is refused is rejected, and not tried again', async () => {
  const relay = await smarthost({ dot: '554 5.6.0 not like this' })
  const id = await accepted(await sender())
  start(relay.url)
  await done(id)
  expect(await emailOf(id)).toMatchObject({ status: 'rejected', error: 'not like this' })
})

test('a greylisted email is recorded as delayed once, and sent by a retry', async () => {
  let tries = 0
  const relay = await smarthost({ rcpt: () => (++tries < 4 ? '451 4.7.1 Greylisted' : '250 ok') })
  const id = await accepted(await sender())
  start(relay.url)
  await done(id)
  expect(tries).toBe(4)
  expect((await eventsOf(id)).map(event => event.type)).toEqual(['delayed', 'sent'])
})

test('a connection lost after the final dot: delayed and ambiguous, and sent again with the same Message-ID', async () => {
  const relay = await smarthost({ dot: 'close' })
  const id = await accepted(await sender())
  start(relay.url, { retryFirstMs: 300 })
  await until(async () => (await eventsOf(id)).length === 1, { what: 'the first attempt' })
  relay.setScript({})
  await done(id)
  const events = await eventsOf(id)
  expect(events.map(event => [event.type, fromJson(event.extra)])).toEqual([
    ['delayed', { phase: 'final-dot', attempt: 1, ambiguous: true }],
    ['sent', { phase: 'final-dot', attempt: 2, ambiguous: true }],
  ])
  const messageIds = relay.accepted.map(
    relayedMessage => /Message-ID: (.*)\r\n/.exec(relayedMessage.wire.toString())?.[1],
  )
  expect(messageIds).toEqual([`<${id}@shop.test>`, `<${id}@shop.test>`])
  expect(
    new Set(relay.accepted.map(relayedMessage => /\r\nDate: (.*)\r\n/.exec(relayedMessage.wire.toString())?.[1])).size,
  ).toBe(1)
})

test('an email that expires unsent fails with 4.4.7 and the last reply, and is no bounce', async () => {
  const relay = await smarthost({ rcpt: '451 4.7.1 Greylisted' })
  const id = await accepted(await sender(), { expiresAt: plusMs(now(), 700) })
  start(relay.url, { retryFirstMs: 200 })
  await done(id)
  const events = await eventsOf(id)
  expect(events.at(-1)).toMatchObject({ type: 'failed', source: 'api', enhanced_code: '4.4.7', bounce: null })
  expect(events.at(-1)?.detail).toContain('451 4.7.1 Greylisted')
  expect(relay.accepted).toEqual([])
})

test('a relay finds what another process accepted without being woken', async () => {
  const relay = await smarthost()
  start(relay.url)
  // The relay has found the outbox empty, and waits.
  await Bun.sleep(100)
  await accepted(await sender())
  await until(() => relay.accepted.length === 1, { what: 'it is sent', withinMs: 2000 })
})

test('two relays on one outbox submit nothing twice', async () => {
  const relay = await smarthost()
  const from = await sender()
  await accept(from, ...Array.from({ length: 200 }, (_, i) => ({ to: [`u${i}@d${i % 3}.test`] })))
  start(relay.url)
  start(relay.url)
  await until(allDone, { what: 'the outbox is empty', withinMs: 20_000 })
  expect(relay.accepted.length).toBe(200)
  expect(new Set(relay.accepted.map(relayedMessage => relayedMessage.to[0])).size).toBe(200)
}, 30_000)

test('a lost lease settles nothing', async () => {
  const id = await accepted(await sender())
  const options = { maxRows: 10, leaseMs: 1000 }
  const [first] = await claimOldest(database.db, { ...options, now: now() })
  const [second] = await claimOldest(database.db, { ...options, now: plusMs(now(), 2000) })
  if (!first || !second) throw new Error('nothing was claimed')
  expect(second.id).toBe(first.id)
  const event = {
    emailId: id,
    recipient: first.recipient,
    type: 'bounced',
    occurredAt: now(),
    source: 'smtp',
  } as const
  const settle = newSettlementWriter(database.db, systemClock)
  const results = await Promise.all([
    settle({ claimed: first, next: { kind: 'end', event }, isOutcome: false }),
    settle({ claimed: second, next: { kind: 'end', event: { ...event, type: 'sent' } }, isOutcome: true }),
    settle({
      claimed: first,
      next: { kind: 'retry', event, dueAt: now(), attempts: 9, lastReply: null, isAmbiguous: false },
      isOutcome: true,
    }),
  ])
  expect(results).toEqual(['lost', 'written', 'lost'])
  expect(await isDone(id)).toBe(true)
  expect((await eventsOf(id)).map(event => event.type)).toEqual(['sent'])
  expect((await recipientsOf(id)).map(recipient => recipient.status)).toEqual(['sent'])
})

/** A claimed row that is noted as being submitted, and what its process writes when the provider has taken it. */
async function taken(leaseMs: number) {
  const id = await accepted(await sender())
  const [claimed] = await claimOldest(database.db, { maxRows: 5, leaseMs, now: now() })
  if (!claimed) throw new Error('nothing was claimed')
  await updateSubmitting(
    database.db,
    [{ id: claimed.id, lease: claimed.lease, accepted: null }],
    plusMs(now(), leaseMs),
  )
  const event = { emailId: id, recipient: claimed.recipient, type: 'sent', occurredAt: now(), source: 'smtp' } as const
  return { id, outcome: { claimed, next: { kind: 'end', event }, isOutcome: true } as const }
}

const sentEvents = async (id: Id<'eml'>) =>
  (await eventsOf(id)).map(event => [event.type, fromJson(event.extra)['ambiguous'] ?? false])

test('an outcome whose commit got no answer is looked up, and recorded once', async () => {
  const { id, outcome } = await taken(60_000)
  const settle = newSettlementWriter(database.db, systemClock)
  expect(await settle(outcome)).toBe('written')
  expect(await settle(outcome)).toBe('written')
  expect(await sentEvents(id)).toEqual([['sent', false]])
})

test('what the provider took ends a row that another process has claimed and not begun to submit', async () => {
  const { id, outcome } = await taken(0)
  const [other] = await claimOldest(database.db, { maxRows: 5, leaseMs: 60_000, now: plusMs(now(), 1000) })
  if (!other) throw new Error('nothing was claimed')
  expect(other).toMatchObject({ isReclaimed: true, isAmbiguous: true })
  expect(await newSettlementWriter(database.db, systemClock)(outcome)).toBe('written')
  expect(await isDone(id)).toBe(true)
  expect(await updateSubmitting(database.db, [{ ...other, accepted: null }], now())).toBe(0)
  expect(await sentEvents(id)).toEqual([['sent', false]])
})

test('what the provider took is recorded as one of two copies when another process submits it too', async () => {
  const { id, outcome } = await taken(0)
  const [other] = await claimOldest(database.db, { maxRows: 5, leaseMs: 60_000, now: plusMs(now(), 1000) })
  if (!other) throw new Error('nothing was claimed')
  await updateSubmitting(database.db, [{ ...other, accepted: null }], plusMs(now(), 60_000))
  expect(await newSettlementWriter(database.db, systemClock)(outcome)).toBe('written')
  expect(await outboxOf(id)).toMatchObject([{ lease: other.lease }])
  expect(await sentEvents(id)).toEqual([['sent', true]])
})

test('a submission whose outcome cannot be written is not repeated', async () => {
  const relay = await smarthost()
  const refuse = sql`CREATE TRIGGER unwritable BEFORE DELETE ON outbox FOR EACH ROW SIGNAL SQLSTATE '45000'`
  await refuse.execute(database.db)
  const id = await accepted(await sender())
  start(relay.url, { leaseMs: 300 })
  await until(() => relay.accepted.length === 1, { what: 'it is submitted' })
  // Several leases long nothing happens: the lease is renewed, and no other process claims the recipient.
  await Bun.sleep(1500)
  await sql`DROP TRIGGER unwritable`.execute(database.db)
  await done(id)
  expect(relay.accepted.length).toBe(1)
})

test('the lease of a submission that takes longer is renewed', async () => {
  const relay = await smarthost()
  const id = await accepted(await sender())
  const provider = testSmarthost(relay.url, { connections: 2 })
  open.push(() => provider.close())
  const slow = {
    ...provider,
    submit: async (submission: never) => {
      // Four leases long.
      await Bun.sleep(1200)
      return provider.submit(submission)
    },
  }
  start(relay.url, { provider: slow, leaseMs: 300 })
  start(relay.url, { provider: slow, leaseMs: 300 })
  await done(id)
  // No second submission follows, for longer than a lease.
  await Bun.sleep(400)
  expect(relay.accepted.length).toBe(1)
})

/** Many due rows at little cost: emails of 250 recipients. */
async function backlog(from: SendingDomain, count: number, destination: string): Promise<void> {
  const recipientsPerEmail = 250
  await accept(
    from,
    ...Array.from({ length: count / recipientsPerEmail }, (_, i) => ({
      to: Array.from({ length: recipientsPerEmail }, (_, j) => `u${i}-${j}@${destination}`),
      message: storedMessage(`big-${i}`, 'undisclosed@x.test'),
    })),
  )
}

test('10,000 emails of one organization or to one destination hold up no others', async () => {
  const relay = await smarthost()
  const [big, small] = [await sender(), await sender()]
  await backlog(big, 10_000, 'big.test')
  await accepted(small, { to: ['one@small.test'] })
  await accepted(big, { to: ['one@other.test'] })
  const worker = start(relay.url)
  const isSubmitted = (to: string) => relay.accepted.some(relayedMessage => relayedMessage.to.includes(to))
  await until(() => isSubmitted('one@small.test') && isSubmitted('one@other.test'), { what: 'both are sent' })
  expect(relay.accepted.length).toBeLessThan(100)

  await accepted(small, { to: ['two@small.test'] })
  worker.wake()
  const started = relay.accepted.length
  await until(() => isSubmitted('two@small.test'), { what: 'it is sent while the backlog lasts' })
  const index = relay.accepted.findIndex(relayedMessage => relayedMessage.to.includes('two@small.test'))
  expect(index - started).toBeLessThan(400)
}, 60_000)

test('a route error counts no attempt, and sending resumes soon after the provider recovers', async () => {
  const relay = await smarthost({ banner: '554 5.3.2 no service close' })
  const ids = await accept(await sender(), ...Array.from({ length: 20 }, () => ({})))
  start(relay.url)
  // Long enough for the breaker to open and for two probes.
  await Bun.sleep(2500)
  const [first] = ids
  if (!first) throw new Error('nothing was accepted')
  expect(await outboxOf(first)).toMatchObject([{ attempts: 0 }])
  expect(await eventsOf(first)).toEqual([])
  expect((await recipientsOf(first)).map(recipient => recipient.status)).toEqual(['queued'])
  // The provider is not hammered: five failures, the submissions under way then, and a probe or two.
  expect(relay.connections()).toBeLessThan(15)
  relay.setScript({})
  await until(() => relay.accepted.length === 20, { what: 'all are sent', withinMs: 6000 })
  await until(allDone, { what: 'all are settled' })
}, 20_000)

test('a sender domain that the provider refuses opens its own circuit breaker and holds up no others', async () => {
  const relay = await smarthost({ mail: from => (from.endsWith('@bad.test') ? '553 5.1.8 unknown sender' : '250 ok') })
  const bad = await createSendingDomain(database.db, now(), 'bad.test')
  const badIds = await accept(bad, ...Array.from({ length: 30 }, () => ({})))
  const worker = start(relay.url)
  // Long enough for the domain's breaker to open.
  await Bun.sleep(1500)
  const good = await accepted(await sender())
  worker.wake()
  await until(() => isDone(good), { what: 'the good one is sent', withinMs: 2000 })
  const refused = relay.commands.filter(command => command.includes('MAIL FROM:<hello@bad.test>')).length
  expect(refused).toBeLessThan(15)
  const [first] = badIds
  if (!first) throw new Error('nothing was accepted')
  const isGivenBack = async () => (await outboxOf(first))[0]?.lease === null
  await until(isGivenBack, { what: 'what is refused waits', withinMs: 2000 })
  expect(await outboxOf(first)).toMatchObject([{ attempts: 0 }])
})

test('an email that expires while the circuit breaker is open still fails in time', async () => {
  const relay = await smarthost({ banner: '554 no close' })
  const from = await sender()
  await accept(from, ...Array.from({ length: 80 }, () => ({})))
  const id = await accepted(from, { expiresAt: plusMs(now(), 1500) })
  start(relay.url)
  await until(async () => (await emailOf(id)).status === 'failed', { what: 'it failed', withinMs: 10_000 })
  expect((await eventsOf(id)).map(event => event.enhanced_code)).toEqual(['4.4.7'])
}, 20_000)

test('a scheduled email is sent when it is due, with that date', async () => {
  const relay = await smarthost()
  const scheduledAt = plusMs(now(), 1200)
  const id = await accepted(await sender(), { scheduledAt, createdAt: plusMs(now(), -86_400_000) })
  start(relay.url)
  // Halfway to its time nothing has been submitted.
  await Bun.sleep(600)
  expect(relay.accepted).toEqual([])
  await done(id)
  expect(millisecondsOf(now())).toBeGreaterThanOrEqual(millisecondsOf(scheduledAt))
  const date = /\r\nDate: (.*)\r\n/.exec(relay.accepted[0]?.wire.toString() ?? '')?.[1] ?? ''
  expect(Date.parse(date)).toBe(Math.floor(millisecondsOf(scheduledAt) / 1000) * 1000)
})

test('emails wait while their domain is not ready, scheduled or not, and are sent once it is; one to a suppressed recipient is not', async () => {
  const relay = await smarthost()
  const [unready, from] = [await sender(), await sender()]
  await database.db.updateTable('domains').set({ status: 'failed' }).where('id', '=', unready.domainId).execute()
  await database.db
    .insertInto('suppressions')
    .values({
      id: newId('sup'),
      organization_id: from.organizationId,
      brand_id: from.brandId,
      email: 'gone@x.test',
      reason: 'hard_bounce',
      source_email_id: null,
      evidence: null,
      created_at: now(),
      expires_at: null,
    })
    .execute()
  const scheduledAt = plusMs(now(), 50)
  const waiting = await accept(unready, { scheduledAt }, {})
  const late = await accepted(unready, { scheduledAt, expiresAt: plusMs(now(), 3000) })
  const mixed = await accepted(from, { scheduledAt, to: ['Gone@x.test', 'here@x.test'] })
  start(relay.url)
  await done(late)
  await done(mixed)
  expect(await eventsOf(late)).toMatchObject([
    { type: 'delayed', source: 'api', detail: expect.stringContaining('not ready to send') },
    { type: 'failed', source: 'api', enhanced_code: '4.4.7', detail: expect.stringContaining('not ready to send') },
  ])
  expect((await recipientsOf(mixed)).map(recipient => recipient.status)).toEqual(['suppressed', 'sent'])
  expect(relay.accepted.map(relayedMessage => relayedMessage.to)).toEqual([['here@x.test']])
  for (const id of waiting) {
    await until(async () => (await emailOf(id)).status === 'delayed', { what: 'it waits' })
    const [row] = await outboxOf(id)
    const waitMs = millisecondsOf(row?.due_at ?? now()) - millisecondsOf(now())
    expect([row?.attempts, row?.lease, waitMs > 30_000, waitMs <= 60_000]).toEqual([0, null, true, true])
  }
  await database.db.updateTable('domains').set({ status: 'verified' }).where('id', '=', unready.domainId).execute()
  // A minute later.
  await database.db.updateTable('outbox').set({ due_at: now() }).execute()
  for (const id of waiting) {
    await done(id)
    expect((await eventsOf(id)).map(event => event.type)).toEqual(['delayed', 'sent'])
  }
})

test('a domain without a key sends nothing unsigned', async () => {
  const relay = await smarthost()
  const from = await sender()
  await database.db.deleteFrom('dkim_keys').where('domain_id', '=', from.domainId).execute()
  const id = await accepted(from)
  start(relay.url, { retryFirstMs: 60_000 })
  await until(async () => (await eventsOf(id)).length === 1, { what: 'it was tried' })
  expect(await eventsOf(id)).toMatchObject([{ type: 'delayed', source: 'api' }])
  expect(relay.accepted).toEqual([])
})

test('stopping lets submissions under way end and gives the rest back', async () => {
  const relay = await smarthost()
  const ids = await accept(await sender(), ...Array.from({ length: 40 }, () => ({})))
  const worker = start(relay.url, { connections: 2 })
  await until(() => relay.accepted.length >= 5, { what: 'some are under way' })
  const before = relay.accepted.length
  await worker.stop()
  const left = await database.db
    .selectFrom('outbox')
    .select(['lease', 'attempts'])
    .where('email_id', 'in', ids)
    .execute()
  expect(left.length + relay.accepted.length).toBe(40)
  expect(relay.accepted.length - before).toBeLessThanOrEqual(4)
  expect(left.length).toBeGreaterThan(0)
  expect(left.every(row => row.lease === null && row.attempts === 0)).toBe(true)
})

test('what a dead process had claimed is claimed again when its lease has run out, and is no copy', async () => {
  const relay = await smarthost()
  const id = await accepted(await sender())
  await claimOldest(database.db, { maxRows: 5, leaseMs: 800, now: now() })
  start(relay.url)
  // The lease is valid all that time.
  await Bun.sleep(300)
  expect(relay.accepted).toEqual([])
  await done(id)
  expect(relay.accepted.length).toBe(1)
  expect((await eventsOf(id)).map(event => fromJson(event.extra))).toEqual([{ phase: 'final-dot', attempt: 1 }])
})

test('what a dead process may have submitted is ambiguous to the end, whatever the route does in between', async () => {
  const relay = await smarthost({ banner: '421 4.3.2 not now close' })
  const id = await accepted(await sender())
  const claimed = await claimOldest(database.db, { maxRows: 5, leaseMs: 100, now: now() })
  await updateSubmitting(
    database.db,
    claimed.map(({ id, lease }) => ({ id, lease, accepted: null })),
    plusMs(now(), 300),
  )
  start(relay.url)
  await until(() => relay.connections() > 1, { what: 'the route fails after the row was claimed again' })
  relay.setScript({ rcpt: '451 4.7.1 later' })
  await until(async () => (await outboxOf(id))[0]?.attempts === 1, { what: 'it is deferred' })
  relay.setScript({})
  await done(id)
  const extras = (await eventsOf(id)).map(event => [event.type, fromJson(event.extra)['ambiguous']])
  expect(extras.at(-1)).toEqual(['sent', true])
})

test('what the provider took from a process that died then is recorded, and not submitted again', async () => {
  const relay = await smarthost()
  const id = await accepted(await sender())
  const claimed = await claimOldest(database.db, { maxRows: 5, leaseMs: 100, now: now() })
  const reply = { phase: 'final-dot', code: 250, enhancedCode: '2.0.0', text: 'Ok: queued as XYZ' } as const
  const accepted_ = { at: now(), outcome: { kind: 'accepted', reply, providerMessageId: 'XYZ' } } as const
  await updateSubmitting(
    database.db,
    claimed.map(({ id, lease }) => ({ id, lease, accepted: accepted_ })),
    now(),
  )
  start(relay.url)
  await done(id)
  expect(relay.accepted).toEqual([])
  expect(await emailOf(id)).toMatchObject({ status: 'sent', provider_message_id: 'XYZ' })
  expect(await eventsOf(id)).toMatchObject([{ type: 'sent', occurred_at: accepted_.at, detail: 'Ok: queued as XYZ' }])
  expect((await eventsOf(id)).map(event => fromJson(event.extra))).toEqual([{ phase: 'final-dot', attempt: 1 }])
})
