import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { dayMs, plusMs } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { appendEvents } from '../../src/events/append-events.ts'
import { numberEvents } from '../../src/events/number-events.ts'
import { selectEvents } from '../../src/events/read-events.ts'
import { selectFloor } from '../../src/events/table.ts'
import { changeRetentionPolicy } from '../../src/retention/policies/change-policy.ts'
import type { RetentionKind } from '../../src/retention/policies/kinds.ts'
import { type PolicyScope, setRetentionPolicy } from '../../src/retention/policies/policies.ts'
import { messageOf, multipart, openTestInbox, type ReceivingDomain, type TestInbox } from '../harness/inbox.ts'
import { until } from '../harness/until.ts'
import { runRetention } from './fixtures.ts'

let inbox: TestInbox
let us: ReceivingDomain
let others: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox({ indexes: true })
  us = await inbox.createReceivingDomain()
  others = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

const db = () => inbox.server.database.db
const daysAgo = (days: number) => plusMs(inbox.server.clock.now(), -days * dayMs)
const clear = () => runRetention(db(), inbox.server.clock)
const setPolicy = (kind: RetentionKind, days: number | null | 'inherit', scope: PolicyScope = 'instance') =>
  setRetentionPolicy({ db: db(), clock: inbox.server.clock }, scope, kind, days)

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function get(path: string): Promise<any> {
  return (await inbox.server.call('GET', path)).json
}

async function status(path: string): Promise<number> {
  return (await inbox.server.call('GET', path)).status
}

/** A message that was received so many days ago, and is indexed. */
async function received(days: number, message = messageOf(), to = us): Promise<Id<'msg'>> {
  const id = await inbox.deliver(message, `hello@${to.domain}`)
  const row = () => db().selectFrom('messages').select('indexed').where('id', '=', id).executeTakeFirst()
  await until(async () => (await row())?.indexed === 1)
  await db()
    .updateTable('messages')
    .set({ received_at: daysAgo(days) })
    .where('id', '=', id)
    .execute()
  return id
}

async function move(id: string, folder: string, days: number): Promise<void> {
  await inbox.server.call('POST', `/v1/inbox/${id}/folder`, { json: { folder } })
  await db()
    .updateTable('messages')
    .set({ folder_since: daysAgo(days) })
    .where('id', '=', id as Id<'msg'>)
    .execute()
}

/** An email that was sent so many days ago, or with `isQueued` is still to be sent. */
async function sent(days: number, more: object = {}, isQueued = false): Promise<Id<'eml'>> {
  const { json } = await inbox.server.call('POST', '/v1/emails', {
    json: { from: `a@${us.domain}`, to: 'b@else.example', subject: 'Hi', text: 'Words of mine', ...more },
  })
  if (!isQueued) {
    await db().deleteFrom('outbox').where('email_id', '=', json.id).execute()
    await db().updateTable('emails').set({ status: 'sent' }).where('id', '=', json.id).execute()
  }
  const at = plusMs(daysAgo(days), Math.random() * 1000)
  await db().updateTable('emails').set({ created_at: at }).where('id', '=', json.id).execute()
  return json.id
}

/** Scans follow the order of arrival, from which the ages that are set here differ; so each test starts with empty tables. */
beforeEach(async () => {
  for (const table of ['messages', 'emails', 'outbox', 'email_events', 'retention_cursors'] as const)
    await db().deleteFrom(table).execute()
})

const file = { filename: 'file.pdf', content: randomBytes(3000).toString('base64') }

test('a message is deleted whole after thirty days in the trash; what came there later, or was restored, stays', async () => {
  const word = `w${randomBytes(6).toString('hex')}`
  const old = await received(90, messageOf([`Subject: ${word}`]))
  const young = await received(90, messageOf([`Subject: ${word}`]))
  const restored = await received(90, messageOf([`Subject: ${word}`]))
  await move(old, 'trash', 31)
  await move(young, 'trash', 29)
  await move(restored, 'trash', 31)
  await inbox.server.call('POST', `/v1/inbox/${restored}/restore`)
  await clear()
  expect(await status(`/v1/inbox/${old}`)).toBe(404)
  expect(await status(`/v1/inbox/${young}`)).toBe(200)
  expect(await status(`/v1/inbox/${restored}`)).toBe(200)
  for (const table of ['search_texts', 'attachments'] as const)
    expect(await db().selectFrom(table).select('message_id').where('message_id', '=', old).execute()).toEqual([])
  const found = async (folder: string) => {
    const { data } = await get(`/v1/inbox/search?q=${word}&folder=${folder}`)
    return data.map((message: { id: string }) => message.id)
  }
  expect(await found('inbox')).toEqual([restored])
  expect(await found('trash')).toEqual([young])
})

test('the retention time of a folder starts when a message is moved there, and does not start again with a second move', async () => {
  const id = await received(90)
  const since = async () =>
    (await db().selectFrom('messages').select('folder_since').where('id', '=', id).executeTakeFirstOrThrow())
      .folder_since
  const before = daysAgo(1)
  await inbox.server.call('DELETE', `/v1/inbox/${id}`)
  const moved = await since()
  expect(moved && moved > before).toBeTrue()
  await inbox.server.call('POST', '/v1/inbox/bulk', { json: { ids: [id], folder: 'trash' } })
  expect(await since()).toBe(moved)
  await clear()
  expect(await status(`/v1/inbox/${id}`)).toBe(200)
})

test('the retention time of a message that is in the trash without a date starts now', async () => {
  const id = await received(400)
  await db().updateTable('messages').set({ folder: 'trash', folder_since: null }).where('id', '=', id).execute()
  await clear()
  expect(await status(`/v1/inbox/${id}`)).toBe(200)
  const row = await db().selectFrom('messages').select('folder_since').where('id', '=', id).executeTakeFirstOrThrow()
  expect(row.folder_since && row.folder_since > daysAgo(1)).toBeTrue()
  await db()
    .updateTable('messages')
    .set({ folder_since: daysAgo(31) })
    .where('id', '=', id)
    .execute()
  await clear()
  expect(await status(`/v1/inbox/${id}`)).toBe(404)
})

test('a message in quarantine stays while it waits to be scanned', async () => {
  const id = await inbox.deliver(messageOf(), `hello@${us.domain}`, { unscanned: true })
  await db()
    .updateTable('messages')
    .set({ folder_since: daysAgo(100), indexed: 1 })
    .where('id', '=', id)
    .execute()
  await clear()
  expect(await status(`/v1/inbox/${id}`)).toBe(200)
  await db().updateTable('messages').set({ rescan_at: null }).where('id', '=', id).execute()
  await db()
    .updateTable('retention_waiting')
    .set({ again_at: daysAgo(0) })
    .where('item_id', '=', id)
    .execute()
  await clear()
  expect(await status(`/v1/inbox/${id}`)).toBe(404)
})

test('the posting lists of a search segment are deleted with its last message', async () => {
  const id = await received(50)
  const place = 9 * 2048 + 5
  const { organizationId } = inbox.server
  await db().updateTable('search_texts').set({ place }).where('message_id', '=', id).execute()
  const rows = [9, 10].map(block => ({
    organization_id: organizationId,
    block,
    term: Buffer.alloc(8, block),
    places: Buffer.from([5, 0]),
  }))
  await db().insertInto('search_postings').values(rows).execute()
  await move(id, 'trash', 40)
  await clear()
  const left = await db().selectFrom('search_postings').select('block').where('block', 'in', [9, 10]).execute()
  expect(left).toEqual([{ block: 10 }])
})

test('lists still show a received message whose raw content was deleted, and reading it says that it was deleted', async () => {
  await setPolicy('raw_messages', 60, us.brandId)
  const message = multipart(
    [{ bytes: 'The whole text' }, { bytes: randomBytes(100), disposition: 'attachment; filename=a.bin' }],
    ['Subject: A subject', 'To: x@y.example', 'In-Reply-To: <first@x.example>'],
  )
  const [old, young, elsewhere] = [
    await received(61, message),
    await received(59, message),
    await received(61, message, others),
  ]
  const [attachment] = (await get(`/v1/inbox/${old}`)).attachments
  await clear()
  const shown = await get(`/v1/inbox/${old}`)
  expect(shown).toMatchObject({
    subject: 'A subject',
    from: { address: 'ann@sender.example' },
    to: [{ address: 'x@y.example' }],
    text: null,
    html: null,
    reply_text: null,
    headers: [],
    in_reply_to: 'first@x.example',
    attachments: [{ filename: 'a.bin', size: 100 }],
    purged_at: expect.stringContaining('T'),
  })
  for (const path of [`/v1/inbox/${old}/raw`, `/v1/inbox/${old}/attachments/${attachment.id}`]) {
    const { status: code, json } = await inbox.server.call('GET', path)
    expect([code, json.error.code]).toEqual([404, 'not_found'])
    expect(json.error.message).toContain('was deleted at')
  }
  for (const id of [young, elsewhere])
    expect(await get(`/v1/inbox/${id}`)).toMatchObject({ text: 'The whole text', purged_at: null })
  const reply = await inbox.server.call('POST', `/v1/inbox/${old}/reply`, { json: { text: 'Yes' } })
  expect(reply.status).toBe(202)
  await setPolicy('raw_messages', 'inherit', us.brandId)
})

test('a received message whose attachments were deleted reads as before, and names each attachment', async () => {
  await setPolicy('attachments', 10)
  const bytes = randomBytes(200_000)
  const id = await received(
    11,
    multipart([
      { bytes: 'The text' },
      { bytes: '<p>The HTML</p>', contentType: 'text/html' },
      { bytes, contentType: 'application/pdf', disposition: 'attachment; filename="plan é.pdf"' },
    ]),
  )
  const before = await get(`/v1/inbox/${id}`)
  await clear()
  const after = await get(`/v1/inbox/${id}`)
  expect(after).toEqual({ ...before, read: true, attachments_purged_at: expect.stringContaining('T') })
  expect(await status(`/v1/inbox/${id}/attachments/${before.attachments[0].id}`)).toBe(404)
  const raw = await inbox.download(`/v1/inbox/${id}/raw`)
  expect(raw.status).toBe(200)
  expect(raw.bytes.length).toBeLessThan(10_000)
  const said = /removed-1\.txt"\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(raw.bytes.toString())?.[1] ?? ''
  expect(Buffer.from(said, 'base64').toString()).toMatch(/plan.*\.pdf" \(application\/pdf, 200000 bytes\) was removed/)
  await setPolicy('attachments', 'inherit')
})

test('the content of emails is deleted, counted from when they were sent, and never before', async () => {
  await setPolicy('sent_bodies', 30)
  const old = await sent(31, { attachments: [file] })
  const queued = await sent(31, {}, true)
  const late = await sent(31)
  const young = await sent(29)
  await db()
    .updateTable('emails')
    .set({ scheduled_at: daysAgo(5) })
    .where('id', '=', late)
    .execute()
  await clear()
  expect(await get(`/v1/emails/${old}/content`)).toMatchObject({
    id: old,
    subject: null,
    text: null,
    html: null,
    headers: null,
    attachments: [{ filename: 'file.pdf', size: 3000 }],
    available: false,
    purged_at: expect.stringContaining('T'),
  })
  expect(await get(`/v1/emails/${old}`)).toMatchObject({ subject: 'Hi', recipients: [{ email: 'b@else.example' }] })
  for (const id of [young, queued, late])
    expect(await get(`/v1/emails/${id}/content`)).toMatchObject({
      available: true,
      text: expect.stringContaining('mine'),
    })

  // The walk has passed them; once they are sent and old enough they go all the same.
  await db().deleteFrom('outbox').where('email_id', '=', queued).execute()
  await db().updateTable('emails').set({ status: 'sent' }).where('id', '=', queued).execute()
  await db()
    .updateTable('emails')
    .set({ scheduled_at: daysAgo(31) })
    .where('id', '=', late)
    .execute()
  await db()
    .updateTable('retention_waiting')
    .set({ again_at: daysAgo(0) })
    .where('kind', '=', 'sent_bodies')
    .execute()
  await clear()
  for (const id of [queued, late]) expect((await get(`/v1/emails/${id}/content`)).available).toBeFalse()
  expect(await db().selectFrom('retention_waiting').selectAll().where('kind', '=', 'sent_bodies').execute()).toEqual([])
  await setPolicy('sent_bodies', 'inherit')
})

test('attachments are deleted from a sent email, which keeps its text, and not from one in the queue', async () => {
  await setPolicy('attachments', 10, inbox.server.organizationId)
  const [old, queued] = [await sent(11, { attachments: [file] }), await sent(11, { attachments: [file] }, true)]
  const blobOf = async (id: Id<'eml'>) =>
    (await db().selectFrom('emails').select('blob_id').where('id', '=', id).executeTakeFirstOrThrow()).blob_id
  const before = await get(`/v1/emails/${old}/content`)
  const [oldBlob, queuedBlob] = [await blobOf(old), await blobOf(queued)]
  await clear()
  expect(await get(`/v1/emails/${old}/content`)).toEqual({
    ...before,
    attachments_purged_at: expect.stringContaining('T'),
  })
  expect(await blobOf(old)).not.toBe(oldBlob)
  expect(await blobOf(queued)).toBe(queuedBlob)
  await setPolicy('attachments', 'inherit', inbox.server.organizationId)
})

test('events are deleted by the policy of the brand; those of unsent emails and of other brands stay', async () => {
  const [old, queued] = [await sent(90), await sent(90, {}, true)]
  const row = (emailId: Id<'eml'>, days: number, n: number) => ({
    id: `evt_${emailId.slice(4, 20)}${String(n).padStart(10, '0')}` as Id<'evt'>,
    organization_id: inbox.server.organizationId,
    email_id: emailId,
    recipient: null,
    type: 'sent' as const,
    occurred_at: daysAgo(days),
    recorded_at: daysAgo(days),
    source: 'smtp' as const,
    smtp_code: 250,
    enhanced_code: null,
    detail: null,
    bounce: null,
    extra: '{}',
    repeat_key: null,
  })
  await db()
    .insertInto('email_events')
    .values([row(old, 80, 1), row(queued, 80, 1), row(old, 20, 2)])
    .execute()
  const left = async () =>
    (await db().selectFrom('email_events').select('email_id').where('type', '=', 'sent').execute()).map(e => e.email_id)
  await setPolicy('events', 30, others.brandId)
  await clear()
  expect((await left()).sort()).toEqual([old, old, queued].sort())
  await setPolicy('events', 30, us.brandId)
  await clear()
  expect((await left()).sort()).toEqual([old, queued].sort())
  await setPolicy('events', 'inherit', us.brandId)
})

test('requests are deleted by the policy of their organization, else by MAILROOM_REQUEST_LOG_DAYS', async () => {
  const other = await inbox.server.newOrganization()
  const rows = [inbox.server.organizationId, other].flatMap(organizationId =>
    [40, 20, 5].map((days, i) => ({
      id: `req_${organizationId.slice(4, 29)}${i}` as Id<'req'>,
      organization_id: organizationId,
      created_at: daysAgo(days),
      client_request_id: null,
      method: 'GET',
      path: '/',
      status: 200,
      duration_ms: 1,
      api_key_id: 'key_x' as Id<'key'>,
      brand_id: null,
      ip: '127.0.0.1',
      user_agent: 'retention test',
      error_code: null,
      idempotent_replay: 0 as const,
      email_id: null,
    })),
  )
  await db().insertInto('request_log').values(rows).execute()
  await setPolicy('request_log', 10, other)
  await clear()
  const left = async (of: Id<'org'>) => {
    const { rows: found } = await sql<{ n: number }>`SELECT COUNT(*) AS n FROM request_log
      WHERE organization_id = ${of} AND user_agent = 'retention test'`.execute(db())
    return Number(found[0]?.n)
  }
  expect(await left(inbox.server.organizationId)).toBe(2)
  expect(await left(other)).toBe(1)
})

test('the event feed is deleted by the policy of the organization, and readers are told how far', async () => {
  // Those of the other tests are younger, and come first.
  await db().deleteFrom('event_numbers').execute()
  await db().deleteFrom('events').execute()
  const one = await inbox.server.newOrganization()
  const other = await inbox.server.newOrganization()
  const write = async (organizationId: Id<'org'>, days: number) => {
    const id = newId('evt')
    const event = { id, type: 'domain.failed', organizationId, brandId: null, occurredAt: daysAgo(days) } as const
    await appendEvents(db(), [{ ...event, data: { days } }])
    await db()
      .updateTable('events')
      .set({ created_at: daysAgo(days) })
      .where('id', '=', id)
      .execute()
    return id
  }
  const unnumbered = await write(one, 40)
  for (const days of [40, 20, 5]) for (const organizationId of [one, other]) await write(organizationId, days)
  await numberEvents(db())
  const { position } = await db()
    .selectFrom('events')
    .select('position')
    .where('id', '=', unnumbered)
    .executeTakeFirstOrThrow()
  await db().deleteFrom('event_numbers').where('position', '=', position).execute()
  await setPolicy('event_feed', 10, other)
  await clear()
  const left = async (organizationId: Id<'org'>) => {
    const { events } = await selectEvents(db(), { organizationId, types: ['domain.failed'], after: 0, limit: 100 })
    return events.map(({ data, sequence }) => ({ days: JSON.parse(data).days, sequence }))
  }
  const [ours, theirs] = [await left(one), await left(other)]
  expect([ours.map(({ days }) => days), theirs.map(({ days }) => days)]).toEqual([[20, 5], [5]])
  // They take turns in the sequence.
  expect(await selectFloor(db(), one)).toBe((ours[0]?.sequence ?? 0) - 2)
  expect(await selectFloor(db(), other)).toBe((theirs[0]?.sequence ?? 0) - 2)
  await numberEvents(db())
  expect((await left(one)).map(({ days }) => days)).toEqual([20, 5, 40])
})

test('the event feed has no retention time of a brand', async () => {
  const operator = { actor: 'test', clock: inbox.server.clock }
  const change = { scope: newId('brd'), kind: 'event_feed', days: 10 } as const
  await expect(changeRetentionPolicy(db(), operator, change)).rejects.toMatchObject({
    code: 'invalid_request',
    detail: { param: 'kind' },
  })
})
