import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Caller } from '../../../src/api/caller.ts'
import type { BrandTenant } from '../../../src/api/tenant.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/ids.ts'
import { fillStore, wordOfRank } from '../../../src/cli/bench/fill-store.ts'
import { buildSegments } from '../../../src/inbox/search/build-segments.ts'
import { likePattern, parseQuery } from '../../../src/inbox/search/query.ts'
import { searchMessages } from '../../../src/inbox/search/search.ts'
import { segmentSize } from '../../../src/inbox/search/segment.ts'
import { openTextWorker } from '../../../src/inbox/text-worker/text-worker.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'

let database: FreshDatabase
const texts = openTextWorker()
const newTenant = (): BrandTenant => ({ organizationId: newId('org'), brandId: newId('brd') })
const [large, small, other] = [newTenant(), newTenant(), newTenant()]
const perLarge = 3 * segmentSize + 100

beforeAll(async () => {
  database = await freshDatabase(4)
  const filling = { db: database.db, texts, tenants: [large, small, other], at: systemClock.now() }
  await fillStore(filling, 0, 2 * perLarge)
}, 120_000)

afterAll(async () => {
  texts.close()
  await database.close()
})

const callerOf = ({ organizationId }: BrandTenant, brandId: Caller['brandId'] = null) =>
  ({ organizationId, brandId }) as Caller

async function search(tenant: BrandTenant, query: string, limit = 50): Promise<readonly string[]> {
  const found = await searchMessages(database.db, callerOf(tenant), query, { folder: undefined, limit })
  return found.map(row => row.id)
}

/** What a scan of all messages finds. */
async function scanAll({ organizationId }: BrandTenant, query: string, limit = 50): Promise<readonly string[]> {
  const { required = [], excluded = [] } = parseQuery(query) ?? {}
  const matches = (words: string, pattern: string) => new RegExp(pattern.replaceAll('%', '.*'), 's').test(words)
  const rows = await database.db
    .selectFrom('search_texts')
    .select(['message_id', 'words'])
    .where('organization_id', '=', organizationId)
    .orderBy('message_id', 'desc')
    .execute()
  const isFound = ({ words }: { readonly words: string }) =>
    required.every(clause => matches(words, likePattern(clause))) &&
    !excluded.some(clause => matches(words, likePattern(clause)))
  return rows
    .filter(isFound)
    .slice(0, limit)
    .map(row => row.message_id)
}

const [first = '', second = '', third = ''] = [0, 1, 2].map(wordOfRank)
const queries = [
  'haystack',
  first,
  `${first} ${second} ${third}`,
  wordOfRank(700),
  `${wordOfRank(200)} ${wordOfRank(300)}`,
  '"please find attached"',
  '"find please"',
  `"${first} ${second}"`,
  `"${second} ${first} ${second}"`,
  `${second} -${first}`,
  `alice -${first} -${second} -"please find"`,
  `${first} -"${second} ${third}"`,
  'absent',
  `absent ${first}`,
  '合同',
  '合同项',
  '项',
  '目',
  `${first} -合`,
]

test.each(queries)('finds in segments what a scan of all messages finds: %s', async query => {
  for (const tenant of [large, small]) expect(await search(tenant, query)).toEqual(await scanAll(tenant, query))
})

test('finds all matches, up to the limit', async () => {
  const all = await scanAll(large, 'alice', 10_000)
  expect(all).toHaveLength(perLarge)
  expect(await search(large, 'alice', 10_000)).toEqual(all)
  expect(await search(large, '"please find"', 1)).toEqual((await scanAll(large, '"please find"')).slice(0, 1))
})

test('leaves out other folders and other brands, also when they have almost all matches', async () => {
  const { db } = database
  const oldest = (await scanAll(large, 'haystack', 10_000)).at(-1)
  await db
    .updateTable('messages')
    .set({ folder: 'trash' })
    .where('id', '=', oldest as `msg_${string}`)
    .execute()
  const inTrash = await searchMessages(db, callerOf(large), 'alice', { folder: 'trash', limit: 50 })
  expect(inTrash.map(row => row.id)).toEqual([oldest as `msg_${string}`])
  expect(await search(large, 'haystack', 10_000)).not.toContain(oldest)
  const stranger = callerOf(large, newId('brd'))
  expect(await searchMessages(db, stranger, 'alice', { folder: undefined, limit: 50 })).toEqual([])
  const restricted = callerOf(large, large.brandId)
  expect(await searchMessages(db, restricted, 'alice', { folder: undefined, limit: 50 })).toHaveLength(50)
})

test('several processes that build segments at once give each message its own position', async () => {
  const tenant = newTenant()
  const filling = { db: database.db, texts, tenants: [newTenant(), tenant], at: systemClock.now() }
  await fillStore(filling, 0, 2 * (segmentSize - 1))
  const more = { ...filling, tenants: [tenant, newTenant()], at: systemClock.now() }
  await fillStore(more, 0, 4)
  const built = await Promise.all([1, 2, 3].map(() => buildSegments(filling, [tenant.organizationId])))
  expect(built.flat().length).toBeLessThanOrEqual(1)
  const rows = await database.db
    .selectFrom('search_texts')
    .select(['place'])
    .where('organization_id', '=', tenant.organizationId)
    .where('place', 'is not', null)
    .execute()
  expect(rows.map(row => row.place).sort((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: segmentSize }, (_, i) => i),
  )
  expect(await search(tenant, 'alice', 10_000)).toEqual(await scanAll(tenant, 'alice', 10_000))
})
