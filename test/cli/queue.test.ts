import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/base/clock.ts'
import type { Id } from '../../src/base/ids.ts'
import { queueCommand } from '../../src/cli/queue.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../harness/accepted-emails.ts'
import { outputOf } from '../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'

let database: FreshDatabase
let shop: SendingDomain
let ids: readonly Id<'eml'>[]

beforeAll(async () => {
  database = await freshDatabase(4)
  const now = systemClock.now()
  shop = await createSendingDomain(database.db, now)
  const emails = [{ to: ['a@x.test', 'b@y.test'] }, { to: ['c@x.test'] }, { to: ['d@z.test'] }]
  ids = await insertAcceptedEmails(database.db, mysqlBlobs(database.db, systemClock), shop, now, emails)
})
afterAll(() => database.close())

const run = (...args: string[]) => outputOf(queueCommand, args, { MAILROOM_DATABASE_URL: database.url })
const json = async (...args: string[]) => (await run(...args)).json
const recipients = async (...args: string[]): Promise<string[]> =>
  (await json('list', ...args)).recipients.map((recipient: { recipient: string }) => recipient.recipient)

test('shows the queue, holds a part of it, releases it and cancels it', async () => {
  expect(await recipients()).toEqual(['a@x.test', 'b@y.test', 'c@x.test', 'd@z.test'])
  expect(await recipients('--domain', 'X.test')).toEqual(['a@x.test', 'c@x.test'])
  const paged = await json('list', '--limit', '3')
  expect([paged.has_more, paged.recipients.length, paged.queue]).toMatchObject([true, 3, { total: 4, due: 4, held: 0 }])
  expect((await json('domains', '--limit', '1'))[0]).toMatchObject({ domain: 'x.test', total: 2 })

  const held = await json('hold', '--domain', 'x.test', '--reason', 'they asked us to')
  expect(held).toMatchObject({ action: 'hold', dry_run: false, done: 2, in_flight: 0, not_queued: [] })
  expect(await recipients('--held')).toEqual(['a@x.test', 'c@x.test'])
  const shown = await json('show', ids[0] ?? '')
  expect(shown.recipients).toMatchObject([
    { recipient: 'a@x.test', queue: { held_reason: 'they asked us to', next_attempt_at: null } },
    { recipient: 'b@y.test', queue: { held_at: null } },
  ])
  expect((await run('list', '--held')).text).toMatch(/held since .*Z \(they asked us to\), fails .*Z\n/)

  expect((await run('cancel', ids[1] ?? '', ids[1]?.replace(/.$/, 'z') ?? '')).text).toMatch(
    /^Canceled: 1 recipient\.\neml_\w+ has nothing in the queue\.$/,
  )
  expect((await json('show', ids[1] ?? '')).recipients).toMatchObject([{ status: 'canceled', queue: null }])
  expect(await json('release', '--org', shop.organizationId)).toMatchObject({ done: 1, as_it_was: 2 })
  expect(await json('cancel', '--all', '--dry-run')).toMatchObject({ dry_run: true, done: 3 })
  expect(await recipients()).toEqual(['a@x.test', 'b@y.test', 'd@z.test'])
})

test.each([
  [['cancel'], 'say which ones'],
  [['hold', 'eml_00000000000000000000000000', '--all'], 'give emails by id, or'],
  [['retry', '--domain', 'x_ y'], 'is not a domain name'],
  [['release', '--status', 'sent'], 'none of scheduled, queued, delayed'],
  [['hold', '--all', '--reason', 'x'.repeat(201)], 'at most 200 characters'],
  [['cancel', '--org', 'org_00000000000000000000000000'], 'There is no organization'],
  [['list', '--limit', '0'], 'not a whole number from 1'],
  [['show', 'eml_00000000000000000000000000'], 'There is no email'],
])('says what is wrong with %p', async (args, sentence) => {
  await expect(run(...args)).rejects.toThrow(sentence)
})
