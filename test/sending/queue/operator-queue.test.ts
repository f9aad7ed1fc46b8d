import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { selectAuditEntries } from '../../../src/accounts/audit/table.ts'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import type { BlobStore } from '../../../src/ports/blobs/port.ts'
import { countDestinations, countQueue } from '../../../src/sending/queue/count-table.ts'
import { applyToQueue, type QueueAction } from '../../../src/sending/queue/operator-queue.ts'
import type { QueueFilter } from '../../../src/sending/queue/table.ts'
import { type Acceptance, selectOldestDueAt, updateSubmitting } from '../../../src/sending/relay/outbox.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { newSettlementWriter } from '../../../src/sending/relay/settlement.ts'
import { type AcceptedEmail, createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { claimOldest, expireLeases } from '../../harness/claim.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { countRowsRead } from '../../harness/rows-read.ts'
import { type RelayScript, startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'

let database: FreshDatabase
let blobs: BlobStore
const open: (() => Promise<void>)[] = []
const operator = { actor: 'ann', clock: systemClock }
const now = () => systemClock.now()

beforeAll(async () => {
  database = await freshDatabase(12)
  blobs = mysqlBlobs(database.db, systemClock)
})
afterAll(() => database.close())
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
  await database.db.deleteFrom('outbox').execute()
  await database.db.deleteFrom('audit_log').execute()
})

async function accept(...emails: AcceptedEmail[]): Promise<readonly Id<'eml'>[]> {
  return insertAcceptedEmails(database.db, blobs, await createSendingDomain(database.db, now()), now(), emails)
}

async function startRelaying(script: RelayScript = {}) {
  const smarthost = await startScriptedRelay(script)
  const provider = testSmarthost(smarthost.url, { connections: 4 })
  const log = pino({ level: 'silent' })
  const deps = { db: database.db, blobs, provider, signingKeys, clock: systemClock, log }
  const relay = startRelay({ ...deps, attemptMs: 20_000, retryFirstMs: 3_600_000 })
  open.push(async () => {
    await relay.stop()
    await provider.close()
    await smarthost.close()
  })
  return { taken: () => smarthost.accepted.flatMap(relayedMessage => relayedMessage.to) }
}

async function work(filter: QueueFilter, what: QueueAction, isDry = false): Promise<Record<string, number>> {
  const tally: Record<string, number> = {}
  for await (const part of applyToQueue(database.db, filter, what, operator, { isDry }))
    for (const { outcome } of part.results) tally[outcome] = (tally[outcome] ?? 0) + 1
  return tally
}

const hold = (filter: QueueFilter, reason: string | null = null) => work(filter, { kind: 'hold', reason })
const outboxOf = (id: Id<'eml'> | undefined) =>
  database.db
    .selectFrom('outbox')
    .selectAll()
    .where('email_id', '=', id ?? 'eml_')
    .orderBy('position')
    .execute()
const statusesOf = async (id: Id<'eml'> | undefined) =>
  (
    await database.db
      .selectFrom('email_recipients')
      .selectAll()
      .where('email_id', '=', id ?? 'eml_')
      .orderBy('position')
      .execute()
  ).map(row => row.status)
const eventsOf = (id: Id<'eml'> | undefined) =>
  database.db
    .selectFrom('email_events')
    .selectAll()
    .where('email_id', '=', id ?? 'eml_')
    .orderBy('id')
    .execute()
const auditEntries = async () =>
  (await selectAuditEntries(database.db, {}, { limit: 100 })).map(({ action, subject, actor, detail }) => ({
    ...{ action, subject, actor },
    detail: fromJson(detail),
  }))

const claimAll = (at = now()) => claimOldest(database.db, { maxRows: 100, leaseMs: 60_000, now: at })

test('a held recipient is not sent until it is released, others are', async () => {
  const [held, scheduled] = await accept({ to: ['held@x.test'] }, { scheduledAt: plusMs(now(), 3_600_000) })
  expect(await hold({}, 'a look at it')).toEqual({ done: 2 })
  expect(await hold({})).toEqual({ as_it_was: 2 })
  const [free] = await accept({ to: ['free@x.test'] })
  const relay = await startRelaying()
  await until(async () => (await outboxOf(free)).length === 0, { what: 'the other is sent' })
  expect(relay.taken()).toEqual(['free@x.test'])
  expect(await outboxOf(held)).toMatchObject([{ attempts: 0, lease: null, held_reason: 'a look at it' }])

  expect(await work({}, { kind: 'release' })).toEqual({ done: 2 })
  await until(async () => (await outboxOf(held)).length === 0, { what: 'it is sent' })
  expect(relay.taken()).toEqual(['free@x.test', 'held@x.test'])
  const [later] = await outboxOf(scheduled)
  const email = await database.db
    .selectFrom('emails')
    .select('scheduled_at')
    .where('id', '=', scheduled ?? 'eml_')
    .executeTakeFirstOrThrow()
  expect(later).toMatchObject({ held_at: null, held_reason: null, due_at: email.scheduled_at, attempts: 0 })
})

test('a hold gives no more time, and the failure mentions it', async () => {
  const [id] = await accept({ expiresAt: plusMs(now(), 1500) })
  await hold({ destination: 'x.test' }, 'for our eyes')
  const relay = await startRelaying()
  await until(async () => (await outboxOf(id)).length === 0, { what: 'it is over' })
  expect(relay.taken()).toEqual([])
  const [failed] = await eventsOf(id)
  expect(failed).toMatchObject({ type: 'failed', enhanced_code: '4.4.7' })
  expect(failed?.detail).toMatch(/^Not sent by .*Z\. Held by the operator since .*Z\.$/)
})

test('a recipient in flight is held once its attempt is over', async () => {
  const [id] = await accept({ to: ['a@x.test'] })
  const [claimed] = await claimAll()
  expect(await hold({})).toEqual({ in_flight: 1 })
  const [row] = await outboxOf(id)
  expect(row?.lease).toBe(claimed?.lease ?? '')
  if (!claimed) throw new Error('nothing was claimed')
  await newSettlementWriter(
    database.db,
    systemClock,
  )({
    claimed,
    next: { kind: 'retry', event: null, dueAt: now(), attempts: 1, lastReply: '451 later', isAmbiguous: false },
    isOutcome: true,
  })
  const relay = await startRelaying()
  await until(async () => (await outboxOf(id))[0]?.due_at === row?.expires_at, { what: 'it is put away' })
  expect(await outboxOf(id)).toMatchObject([{ attempts: 1, lease: null, last_reply: '451 later' }])
  expect(relay.taken()).toEqual([])
})

test('a release during an attempt lets no other relay make a second one', async () => {
  await accept({})
  await claimAll()
  await hold({})
  expect(await work({}, { kind: 'release' })).toEqual({ in_flight: 1 })
  expect(await claimAll()).toEqual([])
  const { rows } = { rows: await database.db.selectFrom('outbox').select(['held_at', 'lease']).execute() }
  expect(rows).toMatchObject([{ held_at: null, lease: expect.any(String) }])
})

test('canceled recipients get an event with the operator as actor; those sent or in flight are left', async () => {
  const [id, other] = await accept({ to: ['a@x.test', 'b@y.test', 'c@x.test'] }, { to: ['d@z.test'] })
  expect(await work({ destination: 'x.test' }, { kind: 'cancel' })).toEqual({ done: 2 })
  expect(await statusesOf(id)).toEqual(['canceled', 'queued', 'canceled'])
  expect((await eventsOf(id)).map(event => [event.type, event.recipient, event.source, fromJson(event.extra)])).toEqual(
    [
      ['canceled', 'a@x.test', 'api', { actor: 'operator' }],
      ['canceled', 'c@x.test', 'api', { actor: 'operator' }],
    ],
  )
  expect(await auditEntries()).toEqual([
    {
      action: 'queue.cancel',
      subject: 'domain:x.test',
      actor: 'ann',
      detail: { filter: { destination: 'x.test' }, recipients: 2, in_flight: 0, emails: [id] },
    },
  ])
  await claimAll()
  expect(await work({ emailIds: [id ?? 'eml_'] }, { kind: 'cancel' })).toEqual({ in_flight: 1 })
  expect([await statusesOf(id), await statusesOf(other)]).toEqual([['canceled', 'queued', 'canceled'], ['queued']])
  expect(await auditEntries()).toHaveLength(1)
})

describe('after a relay died while it submitted', () => {
  /** Claims all, as a relay that dies once it has noted how far it came, and whose leases then run out. */
  async function claimAndDie(accepted: Acceptance | null): Promise<void> {
    const notes = (await claimAll()).map(({ id, lease }) => ({ id, lease, accepted }))
    await updateSubmitting(database.db, notes, plusMs(now(), 60_000))
    await expireLeases(database.db)
  }

  test('what the provider took can be neither held nor canceled, and is recorded by the next relay', async () => {
    await accept({})
    const reply = { phase: 'final-dot', code: 250, enhancedCode: '2.0.0', text: 'taken' } as const
    const outcome = { kind: 'accepted', reply, providerMessageId: null } as const
    await claimAndDie({ at: now(), outcome })
    expect(await work({}, { kind: 'cancel' })).toEqual({ in_flight: 1 })
    expect(await work({}, { kind: 'hold', reason: null })).toEqual({ in_flight: 1 })
    expect((await claimAll())[0]).toMatchObject({ acceptance: { outcome }, isAmbiguous: false })
  })

  test('what the provider may have taken stays so when it is held, and the event of its cancellation says it', async () => {
    const [held, canceled] = await accept({}, {})
    await claimAndDie(null)
    expect(await hold({ emailIds: [held ?? 'eml_'] })).toEqual({ done: 1 })
    expect(await outboxOf(held)).toMatchObject([{ lease: null, submitting: null, ambiguous: 1 }])
    expect(await work({ emailIds: [canceled ?? 'eml_'] }, { kind: 'cancel' })).toEqual({ done: 1 })
    const [event] = await eventsOf(canceled)
    expect(event && [event.type, fromJson(event.extra)]).toEqual(['canceled', { actor: 'operator', ambiguous: true }])
  })
})

test('a retry is immediate, except for what is held, scheduled or in flight', async () => {
  const [late, held] = await accept({}, {}, { scheduledAt: plusMs(now(), 3_600_000) })
  await hold({ emailIds: [held ?? 'eml_'] })
  await database.db
    .updateTable('outbox')
    .set({ due_at: plusMs(now(), 7_200_000), attempts: 3 })
    .where('email_id', '=', late ?? 'eml_')
    .execute()
  expect(await claimAll()).toEqual([])
  expect(await work({}, { kind: 'retry' })).toEqual({ done: 1, held: 1, scheduled: 1 })
  expect((await claimAll()).map(claimedRecipient => [claimedRecipient.emailId, claimedRecipient.attempts])).toEqual([
    [late ?? 'eml_', 3],
  ])
  expect(await work({}, { kind: 'retry' })).toEqual({ in_flight: 1, held: 1, scheduled: 1 })
})

test('a dry run reports what would be done, and does nothing', async () => {
  const [id] = await accept({})
  const before = await outboxOf(id)
  for (const kind of ['retry', 'cancel'] as const) expect(await work({}, { kind }, true)).toEqual({ done: 1 })
  expect(await work({}, { kind: 'hold', reason: null }, true)).toEqual({ done: 1 })
  expect([await outboxOf(id), await eventsOf(id), await auditEntries()]).toEqual([before, [], []])
})

test('a cancel during sending cancels each recipient or leaves it to the relay, never both', async () => {
  const from = await createSendingDomain(database.db, now())
  const emails = Array.from({ length: 900 }, (_, i) => ({ to: [`u${i}@d${i % 3}.test`] }))
  const ids = await insertAcceptedEmails(database.db, blobs, from, now(), emails)
  const relay = await startRelaying()
  await until(() => relay.taken().length > 0, { what: 'it sends' })
  const { done = 0 } = await work({ organizationId: from.organizationId }, { kind: 'cancel' })
  await until(async () => (await countQueue(database.db, now())).total === 0, { what: 'nothing is left' })
  const all = await database.db
    .selectFrom('email_recipients')
    .select(['email', 'status'])
    .where('email_id', 'in', ids)
    .execute()
  const byStatus = Map.groupBy(all, row => row.status)
  expect(done).toBeGreaterThan(0)
  expect(byStatus.get('canceled')?.length).toBe(done)
  expect(new Set(byStatus.get('sent')?.map(row => row.email))).toEqual(new Set(relay.taken()))
  expect(done + relay.taken().length).toBe(900)
}, 60_000)

test('counts the queue, in all and by domain', async () => {
  const [first] = await accept(
    { to: ['a@x.test', 'b@y.test'] },
    { to: ['c@x.test'], scheduledAt: plusMs(now(), 3_600_000) },
    { to: ['d@x.test'] },
  )
  await hold({ emailIds: [first ?? 'eml_'], destination: 'y.test' })
  const [row] = await outboxOf(first)
  expect(await countQueue(database.db, now())).toEqual({
    ...{ total: 4, held: 1, inFlight: 0, due: 2, later: 1 },
    ...{ oldestDueAt: row?.due_at ?? null, oldestTriedAt: null },
  })
  await claimAll()
  expect(await countQueue(database.db, now())).toMatchObject({
    held: 1,
    inFlight: 2,
    due: 0,
    later: 1,
    oldestDueAt: null,
  })
  const domains = await countDestinations(database.db, now(), 1)
  expect(domains).toMatchObject([{ destination: 'x.test', total: 3, held: 0, inFlight: 2 }])
})

test('claims cost no more when much is held', async () => {
  await accept(...Array.from({ length: 1500 }, () => ({})))
  await hold({})
  const [due] = await accept({})
  let taken: readonly { readonly emailId: string }[] = []
  const read = await countRowsRead(database.db, async one => {
    await selectOldestDueAt(one)
    taken = await claimOldest(one, { maxRows: 20, leaseMs: 1000, now: now() })
  })
  expect(taken.map(claimed => claimed.emailId)).toEqual([due ?? ''])
  expect(read).toBeLessThan(60)
}, 60_000)
