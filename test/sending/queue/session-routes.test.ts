import { afterAll, beforeAll, expect, test } from 'bun:test'
import { selectAuditEntries } from '../../../src/accounts/audit/table.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { queueCommand } from '../../../src/cli/queue.ts'
import { mysqlBlobs } from '../../../src/ports/blobs/mysql.ts'
import { queueSessionRoutes } from '../../../src/sending/queue/session-routes.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../../harness/accepted-emails.ts'
import { outputOf } from '../../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { operatorEmail, operatorIp, type SessionClient, sessionClient } from '../../harness/session-client.ts'

let database: FreshDatabase
let client: SessionClient
let shop: SendingDomain
let ids: readonly Id<'eml'>[]

beforeAll(async () => {
  database = await freshDatabase(4)
  const { db } = database
  client = sessionClient([queueSessionRoutes({ db, clock: systemClock })])
  const now = systemClock.now()
  shop = await createSendingDomain(db, now)
  const emails = [{ to: ['a@x.test', 'b@y.test'] }, { to: ['c@x.test'] }, { to: ['d@z.test'] }]
  ids = await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), shop, now, emails)
})
afterAll(() => database.close())

const command = async (...args: string[]) =>
  (await outputOf(queueCommand, args, { MAILROOM_DATABASE_URL: database.url })).json
const list = async (query = '') => (await client.get(`/app/api/instance/queue/recipients${query}`)).json
const act = async (action: string, body: object) => (await client.post(`/app/api/instance/queue/${action}`, body)).json

test('counts by organization and domain, and lists the oldest first, page by page', async () => {
  const { json } = await client.get('/app/api/instance/queue')
  expect(json).toMatchObject({ queue: { total: 4, due: 4 }, organizations: [{ name: 'Shop', total: 4 }] })
  expect(json.domains.map((row: { domain: string; total: number }) => [row.domain, row.total])).toEqual([
    ['x.test', 2],
    ['y.test', 1],
    ['z.test', 1],
  ])
  const first = await list('?limit=3')
  expect(first.data.map((row: { recipient: string }) => row.recipient)).toEqual(['a@x.test', 'b@y.test', 'c@x.test'])
  const second = await list(`?limit=3&cursor=${first.next_cursor}`)
  expect(second).toMatchObject({ data: [{ recipient: 'd@z.test' }], next_cursor: null })
  expect((await list('?domain=X.test')).data).toHaveLength(2)
  expect((await list('?organization_id=org_00000000000000000000000000')).error.code).toBe('not_found')
})

test('counts first, then does what the command does, with the person in the audit log', async () => {
  const filter = { domain: 'x.test' }
  expect(await act('hold', { ...filter, dry_run: true })).toMatchObject({ dry_run: true, done: 2, next_cursor: null })
  expect((await list('?held=true')).data).toEqual([])
  expect(await act('hold', { ...filter, reason: 'they asked us to' })).toMatchObject({ dry_run: false, done: 2 })
  const listed = await command('list', '--held')
  expect(listed.recipients).toMatchObject([{ recipient: 'a@x.test', held_reason: 'they asked us to' }, {}])
  expect((await list('?held=true')).data).toEqual(listed.recipients)

  const [byPerson] = await selectAuditEntries(database.db, { action: 'queue.hold' }, { limit: 1 })
  expect(byPerson).toMatchObject({ actor: operatorEmail, ip: operatorIp, subject: 'domain:x.test' })
  await command('release', '--domain', 'x.test')
  await command('hold', '--domain', 'x.test', '--reason', 'they asked us to')
  const [byCommand] = await selectAuditEntries(database.db, { action: 'queue.hold' }, { limit: 1 })
  expect(byCommand?.subject).toBe(byPerson?.subject)
  expect(fromJson(byCommand?.detail ?? '{}')).toEqual(fromJson(byPerson?.detail ?? '{}'))

  expect(await act('release', { organization_id: shop.organizationId })).toMatchObject({ done: 2, as_it_was: 2 })
  expect(await act('cancel', { email_ids: [ids[1], 'eml_00000000000000000000000000'] })).toMatchObject({
    done: 1,
    not_queued: ['eml_00000000000000000000000000'],
  })
  expect((await command('show', ids[1] ?? '')).recipients).toMatchObject([{ status: 'canceled', queue: null }])
  expect(await act('retry', { is_all: true })).toMatchObject({ done: 3 })
})

test.each([
  [{}, 'Say which recipients'],
  [{ is_all: true, domain: 'x.test' }, 'only one of them'],
  [{ email_ids: ['eml_x'] }, 'no id of an email'],
  [{ domain: 'x_ y' }, 'no domain name'],
  [{ status: 'sent' }, '`status`'],
])('refuses the selection %p', async (body, message) => {
  const { status, json } = await client.post('/app/api/instance/queue/cancel', body)
  expect(status).toBe(400)
  expect(json.error.message).toContain(message)
})

test('goes on where a bounded call stopped, and leaves what was accepted since', async () => {
  const { db } = database
  const now = systemClock.now()
  const many = Array.from({ length: 60 }, (_, i) => ({
    to: Array.from({ length: 90 }, (_, j) => `r${i}-${j}@many.test`),
  }))
  await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), shop, now, many)
  const first = await act('hold', { domain: 'many.test' })
  expect(first.done).toBeGreaterThanOrEqual(5000)
  await insertAcceptedEmails(db, mysqlBlobs(db, systemClock), shop, systemClock.now(), [{ to: ['late@many.test'] }])
  const second = await act('hold', { domain: 'many.test', cursor: first.next_cursor })
  expect([first.done + second.done, second.next_cursor]).toEqual([5400, null])
}, 60_000)
