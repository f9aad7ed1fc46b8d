import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SessionMember } from '../../../src/api/session/session.ts'
import { plusMs } from '../../../src/base/clock.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { mailboxSessionRoutes } from '../../../src/domains/mailboxes/session-routes.ts'
import { selectUnreadCounts } from '../../../src/domains/mailboxes/table.ts'
import { countMatchingMessages, selectMatchingIds, selectUnreadByFolder } from '../../../src/inbox/matching/table.ts'
import { inboxSessionRoutes } from '../../../src/inbox/session-routes.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { insertMessages, type NewMessage } from '../../../src/receiving/table.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { countRowsRead } from '../../harness/rows-read.ts'
import { callAsMember, testMember } from '../../harness/session.ts'

let inbox: TestInbox
let us: ReceivingDomain
let others: ReceivingDomain
let pattern: NewMessage
let owner: SessionMember
const texts = openTextWorker()

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  others = await inbox.createReceivingDomain()
  owner = testMember(inbox.server.organizationId)
  const id = await inbox.deliver(messageOf(['Subject: pattern']), `hello@${us.domain}`)
  pattern = await db().selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  await db().deleteFrom('messages').where('id', '=', id).execute()
})
afterAll(async () => {
  texts.close()
  await inbox.close()
})

const db = () => inbox.server.database.db

async function file(count: number, change: Partial<NewMessage> = {}): Promise<readonly Id<'msg'>[]> {
  const ids: Id<'msg'>[] = []
  for (let left = count; left > 0; left -= 1000) {
    const rows = Array.from({ length: Math.min(left, 1000) }, () => ({ ...pattern, id: newId('msg'), ...change }))
    await insertMessages(db(), rows)
    ids.push(...rows.map(row => row.id))
  }
  return ids
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
async function ask(path: string, member = owner, body?: object): Promise<any> {
  const app = inboxSessionRoutes({ db: db(), blobs: mysqlBlobs(db(), inbox.server.clock), texts }).use(
    mailboxSessionRoutes({ db: db() }),
  )
  const text = JSON.stringify(body ?? {})
  const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
  const init = body ? { method: 'POST', body: text, headers } : {}
  const response = await callAsMember(app, `/app/api/mail/${path}`, member, init)
  return typeof response === 'string' ? response : await response.json()
}

const emptied = async () => void (await db().deleteFrom('messages').execute())
const until = () => encodeURIComponent(new Date(Date.now() + 60_000).toISOString())

test('unread messages are counted by folder, of a brand, a mailbox or all, up to 10,000', async () => {
  await emptied()
  await file(3)
  await file(2, { is_read: 1 })
  await file(4, { folder: 'spam', mailbox_id: null })
  await file(1, { brand_id: others.brandId, mailbox_id: others.mailboxId })
  const counts = async (query = '', member = owner) =>
    Object.fromEntries(
      (await ask(`unread${query}`, member)).data.map((row: { folder: string; count: number }) => [
        row.folder,
        row.count,
      ]),
    )
  const none = { archive: 0, trash: 0, quarantine: 0 }
  expect(await counts()).toEqual({ ...none, inbox: 4, spam: 4 })
  expect(await counts(`?mailbox_id=${us.mailboxId}`)).toEqual({ ...none, inbox: 3, spam: 0 })
  expect(await counts('?mailbox_id=mbx_x')).toEqual({ ...none, inbox: 0, spam: 0 })
  expect(await counts('', { ...owner, brandId: us.brandId })).toEqual({ ...none, inbox: 3, spam: 4 })
  expect(await counts('', testMember(await inbox.server.newOrganization()))).toEqual({ ...none, inbox: 0, spam: 0 })
  await file(10_000)
  expect((await ask('unread')).data[0]).toEqual({ folder: 'inbox', count: 10_000, is_more: true })
})

test('what a filter matches is counted, then changed by thousands; what came later stays', async () => {
  await emptied()
  const now = inbox.server.clock.now()
  await file(1500, { received_at: plusMs(now, -1000) })
  await file(20, { received_at: plusMs(now, -1000), is_read: 1 })
  const [later] = await file(1, { received_at: plusMs(now, 1000) })
  await file(2, { received_at: plusMs(now, -1000), brand_id: others.brandId, mailbox_id: others.mailboxId })
  const filter = { folder: 'inbox', mailbox_id: us.mailboxId, received_until: isoOf(now) }
  const query = `folder=inbox&mailbox_id=${us.mailboxId}&received_until=${encodeURIComponent(filter.received_until)}`
  expect(await ask(`matching?${query}`)).toEqual({ count: 1520, is_more: false })
  expect(await ask(`matching?${query}&read=false`)).toEqual({ count: 1500, is_more: false })

  const read = await ask('matching', owner, { ...filter, change: { read: true } })
  expect([read.updated.length, read.has_more]).toEqual([1000, true])
  const rest = await ask('matching', owner, { ...filter, change: { read: true } })
  expect([rest.updated.length, rest.has_more]).toEqual([500, false])
  expect(await ask(`matching?${query}&read=false`)).toEqual({ count: 0, is_more: false })

  const moved: string[] = []
  for (let more = true; more; ) {
    const { updated, has_more } = await ask('matching', owner, { ...filter, change: { folder: 'trash' } })
    moved.push(...updated)
    more = has_more
  }
  expect(new Set(moved).size).toBe(1520)
  const left = await db().selectFrom('messages').select(['id', 'is_read']).where('folder', '=', 'inbox').execute()
  expect(left).toHaveLength(3)
  expect(left.find(row => row.id === later)?.is_read).toBe(0)
})

test('a change that is none, a member without access, and messages of another organization are refused or left', async () => {
  await emptied()
  await file(2)
  const filter = { folder: 'inbox', received_until: new Date(Date.now() + 60_000).toISOString() }
  for (const change of [{}, { folder: 'inbox' }, { folder: 'trash', read: true }])
    expect(await ask('matching', owner, { ...filter, change })).toBe('invalid_request')
  const reader = { ...owner, scopes: new Set(['inbox:read'] as const) }
  expect(await ask('matching', reader, { ...filter, change: { read: true } })).toBe('insufficient_scope')
  expect(await ask('unread', { ...owner, scopes: new Set() })).toBe('insufficient_scope')
  const stranger = testMember(await inbox.server.newOrganization())
  expect(await ask('matching', stranger, { ...filter, change: { folder: 'trash' } })).toEqual({
    updated: [],
    has_more: false,
  })
  expect(await ask(`matching?folder=inbox&received_until=${until()}`)).toEqual({ count: 2, is_more: false })
})

test('no more rows are read than are counted or changed, however many the store holds', async () => {
  await emptied()
  await file(4000, { is_read: 1 })
  await file(5)
  const rows = (work: Parameters<typeof countRowsRead>[1]) => countRowsRead(db(), work)
  const all = { mailboxId: null, isRead: null, receivedUntil: inbox.server.clock.now() } as const
  expect(
    await rows(async one =>
      expect(await selectUnreadCounts(one, [us.mailboxId])).toEqual(new Map([[us.mailboxId, 5]])),
    ),
  ).toBeLessThan(30)
  for (const tenant of [owner, { ...owner, brandId: us.brandId }]) {
    for (const mailboxId of [null, us.mailboxId]) {
      const unread = await rows(one => selectUnreadByFolder(one, tenant, ['inbox'], { mailboxId, limit: 10_001 }))
      expect(unread).toBeLessThan(30)
    }
    const marked = await rows(one =>
      selectMatchingIds(one, tenant, { ...all, folder: 'inbox', isRead: 0 }, 1000).then(ids =>
        expect(ids).toHaveLength(5),
      ),
    )
    expect(marked).toBeLessThan(30)
    const capped = await rows(one =>
      countMatchingMessages(one, tenant, { ...all, folder: 'inbox' }, 100).then(count => expect(count).toBe(100)),
    )
    expect(capped).toBeLessThan(250)
  }
})

test('mailboxes to choose from: those of the brand, by the beginning of their name', async () => {
  const { key } = inbox.server
  for (const local_part of ['sales', 'sa_les', 'support'])
    await inbox.server.call('POST', '/v1/mailboxes', { key, json: { domain_id: us.domainId, local_part } })
  const addresses = async (query = '', member: SessionMember = owner) =>
    (await ask(`mailboxes${query}`, member)).data.map((row: { address: string }) => row.address)
  expect(await addresses('', { ...owner, brandId: us.brandId })).toEqual(
    ['*', 'sa_les', 'sales', 'support'].map(name => `${name}@${us.domain}`),
  )
  expect(await addresses('?starts_with=SA_')).toEqual([`sa_les@${us.domain}`])
  expect(await addresses('?starts_with=%25')).toEqual([])
  expect(await addresses('', testMember(await inbox.server.newOrganization()))).toEqual([])
})

function isoOf(instant: string): string {
  return `${instant.replace(' ', 'T')}Z`
}
