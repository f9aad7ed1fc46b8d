import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { plusMs } from '../../../src/base/clock.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { selectItems } from '../../../src/inbox/messages/table.ts'
import { insertMessages, type NewMessage } from '../../../src/receiving/table.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../../harness/inbox.ts'
import { countRowsRead } from '../../harness/rows-read.ts'

let inbox: TestInbox
let us: ReceivingDomain
let pattern: NewMessage

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
  const id = await inbox.deliver(messageOf(['Subject: pattern']), `hello@${us.domain}`)
  pattern = await inbox.server.database.db
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
})
afterAll(() => inbox.close())

const list = async (query: string, key?: string) =>
  (await inbox.server.call('GET', `/v1/inbox?${query}`, key === undefined ? {} : { key })).json
const ids = (page: { data: { id: string }[] }) => page.data.map(item => item.id)

/** Files copies of the template, each with these changes. Returns their ids. */
async function file(changes: readonly Partial<NewMessage>[]): Promise<readonly Id<'msg'>[]> {
  const rows = changes.map(change => ({ ...pattern, id: newId('msg'), ...change }))
  await insertMessages(inbox.server.database.db, rows)
  return rows.map(row => row.id)
}

test('shows the fields of a list', async () => {
  const to = `Bob <bob@${us.domain}>`
  const fields = [`To: ${to}, c@x.example`, 'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=', 'In-Reply-To: <none@x.example>']
  const message = messageOf(fields, 'Some text.\r\n')
  const id = await inbox.deliver(message, `hello@${us.domain}`)
  const { data, next_cursor } = await list('limit=1')
  expect(data).toEqual([
    {
      id,
      brand_id: us.brandId,
      folder: 'inbox',
      mailbox_id: us.mailboxId,
      address: `hello@${us.domain}`,
      from: { address: 'ann@sender.example', name: 'Ann' },
      to: [
        { address: `bob@${us.domain}`, name: 'Bob' },
        { address: 'c@x.example', name: '' },
      ],
      subject: 'Grüße',
      preview: 'Some text.',
      starred: false,
      read: false,
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      size: message.length,
      attachment_count: 0,
      message_id: /<(.*)>/.exec(message.toString().split('Message-ID: ')[1] ?? '')?.[1],
      thread_id: expect.any(String),
      in_reply_to_email_id: null,
      auth: { spf: 'none', dkim: 'none', dmarc: 'none' },
      scan: 'clean',
    },
  ])
  expect(next_cursor).toEqual({ received_at: data[0].received_at, id })
})

test('paging through 10,000 messages shows each once, also 3,000 received at the same instant, while others arrive', async () => {
  const start = inbox.server.clock.now()
  const old = await file(
    Array.from({ length: 10_000 }, (_, i) => ({ received_at: plusMs(start, -(i < 3500 || i >= 6500 ? i : 3500)) })),
  )
  const oldIds = new Set<string>(old)
  const seen: string[] = []
  const newer = () => file([{}, { received_at: plusMs(start, -3500) }, { received_at: plusMs(start, 1000) }])
  let query = 'limit=200'
  for (let page = await list(query); ; page = await list(query)) {
    const placed = page.data.map((item: { received_at: string; id: string }) => item.received_at + item.id)
    expect(placed).toEqual(placed.toSorted().reverse())
    seen.push(...ids(page).filter(id => oldIds.has(id)))
    if (!page.next_cursor) break
    query = `limit=200&cursor_at=${page.next_cursor.received_at}&cursor_id=${page.next_cursor.id}`
    await newer()
  }
  expect([seen.length, new Set(seen).size]).toEqual([10_000, 10_000])
})

test('a page reads about as many rows as it shows, for every cursor and filter', async () => {
  const { db } = inbox.server.database
  const [mailbox] = await mailboxes(1)
  const start = plusMs(inbox.server.clock.now(), -1_000_000)
  await file(
    Array.from({ length: 3000 }, (_, i) => ({
      received_at: plusMs(start, i),
      mailbox_id: (i % 2 === 0 && mailbox) || us.mailboxId,
      folder: i % 3 === 0 ? 'archive' : 'inbox',
    })),
  )
  const after = { receivedAt: plusMs(start, 1500), id: 'msg_' }
  for (const brandId of [null, us.brandId])
    for (const mailboxId of [undefined, mailbox])
      for (const folder of ['inbox', 'archive'] as const)
        for (const from of [undefined, after]) {
          const listing = { folder, mailboxId, after: from, limit: 50 }
          const owner = { organizationId: inbox.server.organizationId, brandId }
          const read = await countRowsRead(db, one => selectItems(one, owner, listing))
          expect([listing, brandId, read < 200 ? 'few' : read]).toEqual([listing, brandId, 'few'])
        }
})

test('the last page has no cursor, also if it is full', async () => {
  const [mailbox] = await mailboxes(1)
  await file(Array.from({ length: 4 }, () => ({ mailbox_id: mailbox ?? null })))
  const first = await list(`mailbox_id=${mailbox}&limit=2`)
  const { received_at, id } = first.next_cursor
  const second = await list(`mailbox_id=${mailbox}&limit=2&cursor_at=${received_at}&cursor_id=${id}`)
  expect([first.data.length, second.data.length, second.next_cursor]).toEqual([2, 2, null])
  expect(await list(`mailbox_id=${newId('mbx')}`)).toEqual({ data: [], next_cursor: null })
})

async function mailboxes(count: number): Promise<readonly Id<'mbx'>[]> {
  const made = Array.from({ length: count }, async () => {
    const json = { domain_id: us.domainId, local_part: newId('mbx').slice(4) }
    return (await inbox.server.call('POST', '/v1/mailboxes', { json })).json.id as Id<'mbx'>
  })
  return await Promise.all(made)
}

describe('the parameter', () => {
  test('limit is 1 to 200, default 50', async () => {
    await file(Array(205).fill({ folder: 'archive' }))
    const count = async (limit: string) => (await list(`folder=archive${limit}`)).data.length
    expect(await Promise.all(['', '&limit=1', '&limit=200', '&limit=201', '&limit=100000'].map(count))).toEqual([
      50, 1, 200, 200, 200,
    ])
  })

  test('folder selects the folder, default inbox', async () => {
    const folders = ['inbox', 'spam', 'archive', 'trash', 'quarantine'] as const
    const filed = await file(folders.map(folder => ({ folder, received_at: plusMs(inbox.server.clock.now(), 60_000) })))
    for (const [i, folder] of folders.entries())
      expect(ids(await list(`folder=${folder}&limit=1`))).toEqual([filed[i] as string])
    expect(ids(await list('limit=1'))).toEqual([filed[0] as string])
  })

  test('mailbox_id selects the mailbox', async () => {
    const [one, two] = await mailboxes(2)
    const filed = await file([{ mailbox_id: one ?? null }, { mailbox_id: two ?? null }])
    expect([ids(await list(`mailbox_id=${one}`)), ids(await list(`mailbox_id=${two}`))]).toEqual(filed.map(id => [id]))
  })

  test('thread_id selects the thread, in every folder', async () => {
    const first = messageOf(['Subject: talk'])
    const answered = /Message-ID: (<.*>)/.exec(first.toString())?.[1]
    const started = await inbox.deliver(first, `hello@${us.domain}`)
    const answer = await inbox.deliver(messageOf([`In-Reply-To: ${answered}`]), `hello@${us.domain}`)
    await inbox.server.call('POST', `/v1/inbox/${started}/folder`, { json: { folder: 'archive' } })
    const thread = (await inbox.server.call('GET', `/v1/inbox/${answer}`)).json.thread_id
    expect(ids(await list(`thread_id=${thread}`))).toEqual([answer, started])
    expect(ids(await list(`thread_id=${thread}&folder=archive`))).toEqual([started])
  })

  test.each([
    ['limit=0', 'invalid_request', 'limit'],
    ['limit=-1', 'invalid_request', 'limit'],
    ['limit=x', 'invalid_request', 'limit'],
    ['limit=', 'invalid_request', 'limit'],
    ['limit=1.5', 'invalid_request', 'limit'],
    ['folder=drafts', 'invalid_request', 'folder'],
    ['folder=', 'invalid_request', 'folder'],
    ['mailbox_id=', 'invalid_request', 'mailbox_id'],
    ['unread=true', 'invalid_request', 'unread'],
    ['cursor_at=2026-01-31T08:15:00Z', 'invalid_cursor', 'cursor_id'],
    ['cursor_id=msg_x', 'invalid_cursor', 'cursor_at'],
    ['cursor_at=2026-01-31T08:15:00Z&cursor_id=%C3%A9', 'invalid_cursor', 'cursor_id'],
    ['cursor_at=2026-01-31T08:15:00Z&cursor_id=msg_x', 'invalid_cursor', 'cursor_id'],
    [`cursor_at=yesterday&cursor_id=${newId('msg')}`, 'invalid_cursor', 'cursor_at'],
  ])('%s is refused', async (query, code, param) => {
    expect(await inbox.server.call('GET', `/v1/inbox?${query}`)).toMatchObject({
      status: 400,
      json: { error: { code, requirement: 'fix_request', retryable: false, param } },
    })
  })

  test.each(['mailbox_id=%C3%A9', 'mailbox_id=mbx_x', 'thread_id=%C3%A9%00'])('%s finds nothing', async query => {
    expect(await inbox.server.call('GET', `/v1/inbox?${query}`)).toMatchObject({
      status: 200,
      json: { data: [], next_cursor: null },
    })
  })
})
