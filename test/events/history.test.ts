import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Scope } from '../../src/api/scope.ts'
import type { SessionMember } from '../../src/api/session/session.ts'
import { systemClock } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { appendEvents, type NewEvent } from '../../src/events/append-events.ts'
import { readEventHistory } from '../../src/events/history.ts'
import { numberEvents } from '../../src/events/number-events.ts'
import { eventSessionRoutes } from '../../src/events/session-routes.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { callAsMember, testMember } from '../harness/session.ts'

let database: FreshDatabase
const acme = newId('org')
const brandId = newId('brd')

beforeAll(async () => {
  database = await freshDatabase()
}, 60_000)
afterAll(() => database.close())

async function append(organizationId: Id<'org'>, ...events: readonly Partial<NewEvent>[]): Promise<void> {
  const base = { type: 'email.sent' as const, organizationId, brandId: null, occurredAt: systemClock.now() }
  await appendEvents(
    database.db,
    events.map((event, n) => ({ ...base, data: { n }, ...event })),
  )
  while ((await numberEvents(database.db)) > 0);
}

const numbersOf = ({ data }: { readonly data: readonly { readonly data: unknown }[] }) =>
  data.map(event => (event.data as { n: number }).n)

const read = async (member: SessionMember, query = '') => {
  const response = await callAsMember(eventSessionRoutes({ db: database.db }), `/app/api/events${query}`, member)
  return response instanceof Response ? response.json() : response
}

test('gives events newest first, page by page, none twice and none left out, whatever comes meanwhile', async () => {
  const member = testMember(acme)
  await append(acme, ...Array.from({ length: 7 }, (_, n) => ({ data: { n } })))
  await append(newId('org'), {})
  const first = await readEventHistory(database.db, member, { limit: '3' })
  expect(numbersOf(first)).toEqual([6, 5, 4])
  await append(acme, { data: { n: 99 } })
  const second = await readEventHistory(database.db, member, { limit: '3', cursor: first.next_cursor ?? '' })
  expect(numbersOf(second)).toEqual([3, 2, 1])
  const third = await readEventHistory(database.db, member, { limit: '3', cursor: second.next_cursor ?? '' })
  expect([numbersOf(third), third.next_cursor]).toEqual([[0], null])
})

test('an empty page of rare events leads to older ones', async () => {
  const other = newId('org')
  const member = testMember(other)
  await append(other, { type: 'domain.verified', data: { n: 1 } })
  for (let batch = 0; batch < 6; batch++) await append(other, ...Array.from({ length: 1000 }, () => ({})))
  const first = await readEventHistory(database.db, member, { types: 'domain.verified' })
  expect(first.data).toEqual([])
  const second = await readEventHistory(database.db, member, {
    types: 'domain.verified',
    cursor: first.next_cursor ?? '',
  })
  expect([numbersOf(second), second.next_cursor]).toEqual([[1], null])
})

test('a member sees the types that their permissions show, of their brand', async () => {
  const organizationId = newId('org')
  await append(
    organizationId,
    { brandId, data: { n: 1 } },
    { brandId: newId('brd'), data: { n: 2 } },
    { brandId, type: 'message.received', data: { n: 3 } },
    { data: { n: 4 } },
  )
  const member = (scope: Scope) =>
    testMember(organizationId, { role: 'member', brandId, brandIds: [brandId], scopes: new Set([scope]) })
  expect(numbersOf((await read(member('email:read'))) as never)).toEqual([1])
  expect(numbersOf((await read(member('inbox:read'))) as never)).toEqual([3])
  expect(await read(member('templates:write'))).toBe('insufficient_scope')
  expect(await read(member('inbox:read'), '?types=email.sent')).toBe('insufficient_scope')
  expect(await read(member('inbox:read'), '?types=email.sendt')).toBe('invalid_request')
  expect(await read(member('inbox:read'), '?cursor=what')).toBe('invalid_cursor')
})
