import { afterAll, beforeAll, expect, test } from 'bun:test'
import pino from 'pino'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { cancelEmail } from '../../../src/sending/emails/cancel.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { startRelay } from '../../../src/sending/relay/relay.ts'
import { createSendingDomain, insertAcceptedEmails } from '../../harness/accepted-emails.ts'
import { claimOldest } from '../../harness/claim.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { startScriptedRelay } from '../../harness/scripted-relay.ts'
import { signingKeys } from '../../harness/secrets.ts'
import { testSmarthost } from '../../harness/smarthost.ts'
import { until } from '../../harness/until.ts'
import { makeDomain, sendingOn, suppress } from '../fixtures.ts'

let server: TestHttpServer
let brandId: Id<'brd'>
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => [emailRoutes(sendingOn(db, clock))],
  })
  brandId = (await makeDomain(server.database.db, server.organizationId, 'acme.example')).brandId
})
afterAll(() => server.close())

const plain = { from: 'ann@acme.example', to: ['bob@b.example', 'cy@c.example'], subject: 'Hello', text: 'Hello' }

async function schedule(more: object = {}): Promise<Id<'eml'>> {
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
  const { json } = await server.call('POST', '/v1/emails', { json: { ...plain, scheduled_at, ...more } })
  return json.id
}

const cancel = (id: string, what = {}) => server.call('POST', `/v1/emails/${id}/cancel`, what)
const read = async (id: string) => (await server.call('GET', `/v1/emails/${id}`)).json
const outboxOf = (id: Id<'eml'>) =>
  server.database.db.selectFrom('outbox').select(['id', 'lease']).where('email_id', '=', id).execute()

test('cancels a scheduled email with all its recipients, and records an event', async () => {
  const id = await schedule()
  const answer = await cancel(id)
  expect([answer.status, answer.json]).toMatchObject([
    200,
    {
      id,
      status: 'canceled',
      recipients: [
        { email: 'bob@b.example', status: 'canceled' },
        { email: 'cy@c.example', status: 'canceled' },
      ],
      events: [
        { type: 'scheduled', recipient: null, source: 'api' },
        { type: 'canceled', recipient: null, source: 'api' },
      ],
      sent_at: null,
      error: null,
    },
  ])
  expect(await outboxOf(id)).toEqual([])
  expect(await read(id)).toEqual(answer.json)
  const again = await cancel(id)
  expect([again.status, again.json.error.code]).toEqual([409, 'not_scheduled'])
})

test('a repeated Idempotency-Key gives the first answer, not a refusal', async () => {
  const id = await schedule()
  const what = { headers: { 'idempotency-key': `cancel-${id}` } }
  const first = await cancel(id, what)
  const again = await cancel(id, what)
  expect([again.status, again.text, again.headers.get('idempotent-replay')]).toEqual([200, first.text, 'true'])
})

test('leaves a suppressed recipient suppressed', async () => {
  const { organizationId } = server
  const organization = {
    organizationId,
    brandId,
    domainId: 'dom_',
    domain: '',
    sender: { organizationId, brandId, keyId: null },
  }
  await suppress(server.database.db, organization as Parameters<typeof suppress>[1], 'sup@s.example')
  const { json } = await cancel(await schedule({ to: ['sup@s.example', 'bob@b.example'] }))
  expect(json.recipients.map((recipient: { status: string }) => recipient.status)).toEqual(['suppressed', 'canceled'])
})

test('refuses an email that is not scheduled, or whose sending has begun', async () => {
  const { db } = server.database
  const queued = (await server.call('POST', '/v1/emails', { json: plain })).json.id
  const claimed = await schedule()
  const [row] = await outboxOf(claimed)
  await db
    .updateTable('outbox')
    .set({ lease: 'l'.repeat(26) })
    .where('id', '=', row?.id ?? 'out_')
    .execute()
  const tried = await schedule()
  await db.updateTable('outbox').set({ attempts: 1 }).where('email_id', '=', tried).execute()
  const halfSent = await schedule()
  await db.deleteFrom('outbox').where('email_id', '=', halfSent).where('position', '=', 0).execute()
  await db
    .updateTable('email_recipients')
    .set({ status: 'sent' })
    .where('email_id', '=', halfSent)
    .where('position', '=', 0)
    .execute()
  for (const id of [queued, claimed, tried, halfSent]) {
    const before = [await read(id), await outboxOf(id)]
    const answer = await cancel(id)
    expect([answer.status, answer.json.error.code]).toEqual([409, 'not_scheduled'])
    expect([await read(id), await outboxOf(id)]).toEqual(before)
  }
})

test('cancels a scheduled email that is due and waits for its domain', async () => {
  const { db } = server.database
  const id = await schedule()
  await db.updateTable('outbox').set({ due_at: systemClock.now() }).where('email_id', '=', id).execute()
  await db.updateTable('email_recipients').set({ status: 'delayed' }).where('email_id', '=', id).execute()
  await db.updateTable('emails').set({ status: 'delayed' }).where('id', '=', id).execute()
  const answer = await cancel(id)
  expect([answer.status, answer.json.status]).toEqual([200, 'canceled'])
  expect(await outboxOf(id)).toEqual([])
})

test('holds a key to its scope, its brand and its organization', async () => {
  const id = await schedule()
  const { key: reader } = await server.newKey({ scopes: ['email:read'] })
  expect((await cancel(id, { key: reader })).json.error.code).toBe('insufficient_scope')
  const other = await makeDomain(server.database.db, server.organizationId, 'other.example')
  const { key: restricted } = await server.newKey({ brandId: other.brandId })
  const refused = await cancel(id, { key: restricted })
  expect([refused.status, refused.json.error.code]).toEqual([403, 'brand_restricted'])
  const { key: stranger } = await server.newKey({ organizationId: await server.newOrganization() })
  for (const value of [id, 'eml_00000000000000000000000000', 'x']) {
    const { status, json } = await cancel(value, { key: stranger })
    expect([status, json.error.code]).toEqual([404, 'not_found'])
  }
  expect((await cancel(id, { json: { now: true } })).status).toBe(400)
  expect((await read(id)).status).toBe('scheduled')
})

/** Whose emails the two races are about, scheduled so many milliseconds from now. */
async function scheduledAt(offsetsMs: readonly number[]) {
  const { db } = server.database
  const now = systemClock.now()
  const sender = await createSendingDomain(db, now)
  const emails = offsetsMs.map((ms, i) => ({ to: [`r${i}@x.test`, `s${i}@y.test`], scheduledAt: plusMs(now, ms) }))
  const ids = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), sender, now, emails)
  const owner = { organizationId: sender.organizationId, brandId: null }
  const tryCancel = (id: Id<'eml'>) =>
    cancelEmail({ db, clock: systemClock }, owner, id).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal && error.code === 'not_scheduled') return false
        throw error
      },
    )
  return { ids, tryCancel }
}

test('a claim at the same time or later gets all of its rows or none', async () => {
  const { db } = server.database
  let canceled = 0
  const rounds = 40
  for (let round = 0; round < rounds; round++) {
    const { ids, tryCancel } = await scheduledAt([0])
    const [id] = ids
    if (!id) throw new Error('nothing was accepted')
    const options = { maxRows: 50, leaseMs: 30_000, now: plusMs(systemClock.now(), 10), expiredOnly: false }
    const claiming = async () => {
      // At a random moment of the cancellation.
      await Bun.sleep(Math.random() * 4)
      return claimOldest(db, options)
    }
    const [isCanceled, atOnce] = await Promise.all([tryCancel(id), claiming()])
    // A row that a refused cancellation had locked is skipped, and claimed next.
    const claimed = [...atOnce, ...(await claimOldest(db, options))]
    expect(claimed.filter(claimedRecipient => claimedRecipient.emailId === id)).toHaveLength(isCanceled ? 0 : 2)
    expect(await outboxOf(id)).toHaveLength(isCanceled ? 0 : 2)
    if (isCanceled) canceled++
  }
  process.stdout.write(`canceled before the claim: ${canceled} of ${rounds}\n`)
}, 60_000)

test('an email canceled while the relay claims is never submitted, and all others are submitted once', async () => {
  const { db } = server.database
  const sink = await startScriptedRelay()
  const provider = testSmarthost(sink.url, { connections: 4 })
  const offsets = Array.from({ length: 150 }, (_, i) => 1000 + i * 5)
  const begunMs = performance.now()
  const { ids, tryCancel } = await scheduledAt(offsets)
  const relay = startRelay({
    db,
    blobs: mysqlBlobs(db, systemClock),
    provider,
    signingKeys,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    attemptMs: 5000,
    retryFirstMs: 50,
  })
  try {
    const outcomes = await Promise.all(
      ids.map(async (id, i) => {
        // Some certainly too early and some certainly too late, also on a slow machine; the others about when it is due.
        const fromDueMs = i % 10 === 0 ? 2500 : i % 10 === 1 ? -500 : Math.random() * 100 - 60
        await Bun.sleep(begunMs + (offsets[i] ?? 0) + fromDueMs - performance.now())
        return [id, await tryCancel(id)] as const
      }),
    )
    const sentIds = outcomes.filter(([, isCanceled]) => !isCanceled).map(([id]) => id)
    const unsettled = () => db.selectFrom('outbox').select('id').where('email_id', 'in', ids).execute()
    await until(async () => (await unsettled()).length === 0, { what: 'the outbox is empty' })
    const submitted = sink.accepted.flatMap(({ to }) => to).sort()
    const expected = ids.flatMap((id, i) => (sentIds.includes(id) ? [`r${i}@x.test`, `s${i}@y.test`] : [])).sort()
    expect(submitted).toEqual(expected)
    const rows = await db.selectFrom('emails').select(['id', 'status']).where('id', 'in', ids).execute()
    const statusOf = new Map<string, string>(rows.map(row => [row.id, row.status]))
    for (const [id, isCanceled] of outcomes) expect(statusOf.get(id)).toBe(isCanceled ? 'canceled' : 'sent')
    process.stdout.write(`canceled in time: ${ids.length - sentIds.length} of ${ids.length}\n`)
    expect(sentIds.length).toBeGreaterThan(0)
    expect(sentIds.length).toBeLessThan(ids.length)
  } finally {
    await relay.stop()
    await provider.close()
    await sink.close()
  }
}, 60_000)
