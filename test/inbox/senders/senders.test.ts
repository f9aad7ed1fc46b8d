import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { selectAuditEntries } from '../../../src/accounts/audit/table.ts'
import { createOrganization } from '../../../src/accounts/organizations/organizations.ts'
import { systemClock } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { sendersCommand } from '../../../src/cli/senders.ts'
import { readEntry } from '../../../src/inbox/senders/senders.ts'
import { senderSessionRoutes } from '../../../src/inbox/senders/session-routes.ts'
import { outputOf } from '../../harness/command-output.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { answerInSession, testMember, testSession } from '../../harness/session.ts'

/** The senders that an organization allows and blocks, by command and in the dashboard. */
let database: FreshDatabase
let organizationId: Id<'org'>

beforeAll(async () => {
  database = await freshDatabase(4)
})
afterAll(() => database.close())
beforeEach(async () => {
  organizationId = (await createOrganization(database.db, { name: 'Demo', plan: 'free' }, systemClock)).id
})

const path = '/app/api/organization/senders'

function call(method: string, path: string, body?: object, role: 'owner' | 'member' = 'owner') {
  const apps = [senderSessionRoutes({ db: database.db, clock: systemClock })]
  const member = () => Promise.resolve(testMember(organizationId, { role }))
  return answerInSession(apps, { method, path, body }, { session: testSession(), member })
}

const command = async (...args: string[]) =>
  (await outputOf(sendersCommand, args, { MAILROOM_DATABASE_URL: database.url })).json
const org = () => ['--org', organizationId]

test('an entry is an address in lower case or a domain', () => {
  expect(readEntry('Ann@Example.COM')).toBe('ann@example.com')
  expect(readEntry(' @Example.com ')).toBe('example.com')
  expect(readEntry('bücher.example')).toBe('xn--bcher-kva.example')
  for (const text of [
    '',
    'com',
    'Ann <ann@example.com>',
    '<ann@example.com>',
    'a b@example.com',
    '*.example.com',
    '192.0.2.1',
  ])
    expect([text, readEntry(text)]).toEqual([text, undefined])
})

test('commands and the dashboard write the same list, with an audit entry each', async () => {
  expect(await command('block', 'Spam.example', 'bad@example.com', 'spam.example', ...org())).toEqual([
    { sender: 'spam.example', listing: 'block', replaced: null },
    { sender: 'bad@example.com', listing: 'block', replaced: null },
  ])
  expect((await call('PUT', path, { sender: 'Bad@Example.com', listing: 'allow' })).json).toEqual({
    sender: 'bad@example.com',
    listing: 'allow',
    replaced: { listing: 'block', created_at: expect.any(String) },
  })
  // What is so already leaves no entry.
  expect((await call('PUT', path, { sender: 'bad@example.com', listing: 'allow' })).json.replaced).toBeNull()
  await command('block', 'spam.example', ...org())
  const listed = [
    { sender: 'bad@example.com', listing: 'allow' },
    { sender: 'spam.example', listing: 'block' },
  ]
  expect(await command('list', ...org())).toMatchObject(listed)
  expect((await call('GET', path)).json).toMatchObject({ data: listed, next_cursor: null })
  expect((await call('POST', `${path}/remove`, { sender: 'spam.example' })).json).toEqual({
    sender: 'spam.example',
    removed: true,
  })
  expect(await command('remove', 'spam.example', 'BAD@example.com', ...org())).toEqual({
    removed: ['bad@example.com'],
    not_found: ['spam.example'],
  })
  const entries = await selectAuditEntries(database.db, { organizationId }, { limit: 10 })
  expect(entries.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    'senders.remove bad@example.com',
    'senders.remove spam.example',
    'senders.allow bad@example.com',
    'senders.block bad@example.com',
    'senders.block spam.example',
  ])
})

test('of two who list a sender differently, the later is told what it was, and since when', async () => {
  const put = async (listing: 'allow' | 'block') =>
    (await call('PUT', path, { sender: 'bob@example.com', listing })).json
  const both = await Promise.all([put('allow'), put('block')])
  const [later, ...others] = both.filter(({ replaced }) => replaced !== null)
  expect([both.length, others]).toEqual([2, []])
  const [now] = (await call('GET', path)).json.data
  expect(later).toMatchObject({
    listing: now.listing,
    replaced: { listing: now.listing === 'allow' ? 'block' : 'allow' },
  })
  expect((await put(now.listing)).replaced).toBeNull()
  const turned = await put(later.replaced.listing)
  expect(turned.replaced).toEqual({ listing: now.listing, created_at: now.created_at })
  expect((await call('GET', path)).json.data[0].created_at > now.created_at).toBe(true)
})

test('the list has pages', async () => {
  await command('block', ...['a', 'b', 'c'].map(name => `${name}.example`), ...org())
  const first = (await call('GET', `${path}?limit=2`)).json
  expect(first.data.map((row: { sender: string }) => row.sender)).toEqual(['a.example', 'b.example'])
  const second = (await call('GET', `${path}?limit=2&cursor=${first.next_cursor}`)).json
  expect(second).toMatchObject({ data: [{ sender: 'c.example' }], next_cursor: null })
  expect((await call('GET', `${path}?cursor=x`)).json.error.code).toBe('invalid_cursor')
})

test('what is no sender is refused by name, and members who do not manage the organization are refused', async () => {
  const { status, json } = await call('PUT', path, { sender: 'everyone', listing: 'block' })
  expect([status, json.error]).toMatchObject([400, { code: 'invalid_request', param: 'sender' }])
  expect(json.error.message).toContain('"everyone" is neither an address such as ann@example.com nor a domain')
  for (const [method, to, body] of [
    ['GET', path, undefined],
    ['PUT', path, { sender: 'a.example', listing: 'block' }],
    ['POST', `${path}/remove`, { sender: 'a.example' }],
  ] as const)
    expect((await call(method, to, body, 'member')).json.error.code).toBe('role_not_allowed')
  await expect(command('block', 'everyone', ...org())).rejects.toThrow('neither an address')
  await expect(command('block', ...org())).rejects.toThrow('say which senders')
})

test('an organization lists ten thousand senders at most', async () => {
  const rows = Array.from({ length: 10_000 }, (_, count) => ({
    organization_id: organizationId,
    entry: `${count}.example`,
    listing: 'block' as const,
    created_at: systemClock.now(),
  }))
  for (let at = 0; at < rows.length; at += 1000)
    await database.db
      .insertInto('sender_listings')
      .values(rows.slice(at, at + 1000))
      .execute()
  expect((await call('PUT', path, { sender: 'more.example', listing: 'block' })).json.error.message).toContain('10000')
  await expect(command('allow', 'more.example', ...org())).rejects.toThrow('10000')
})
