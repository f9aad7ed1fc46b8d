import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOrganization } from '../../../src/accounts/organizations/organizations.ts'
import { acceptedInMonth, type Plan, type QuotaRequest } from '../../../src/accounts/organizations/quota.ts'
import { type Instant, plusMs } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { testClock } from '../../harness/http-server.ts'
import { consumeQuota } from '../../harness/quota.ts'

let database: FreshDatabase
const at = '2026-03-15 12:00:00.000000' as Instant

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

async function createTestOrganization(plan: Plan) {
  return (await createOrganization(database.db, { name: 'A', plan }, testClock())).id
}

test('grants the free plan exactly what it includes, also to concurrent requests', async () => {
  const { db } = database
  const organizationId = await createTestOrganization('free')
  expect(await consumeQuota(db, [{ organizationId, plan: 'free', count: 2990 }], at)).toEqual([true])
  const granted = await Promise.all(
    Array.from({ length: 12 }, () =>
      inTransaction(db, tx => consumeQuota(tx, [{ organizationId, plan: 'free', count: 1 }], at)),
    ),
  )
  expect(granted.flat().filter(Boolean).length).toBe(10)
  expect(await acceptedInMonth(db, organizationId, at)).toBe(3000)
  expect(
    await consumeQuota(db, [{ organizationId, plan: 'free', count: 1 }], plusMs(at, 31 * 24 * 3600 * 1000)),
  ).toEqual([true])
})

test('grants several requests what is left, in order', async () => {
  const { db } = database
  const [free, paid] = [await createTestOrganization('free'), await createTestOrganization('paid')]
  const requests: QuotaRequest[] = [
    { organizationId: free, plan: 'free', count: 2999 },
    { organizationId: paid, plan: 'paid', count: 60_000 },
    { organizationId: free, plan: 'free', count: 2 },
    { organizationId: free, plan: 'free', count: 1 },
    { organizationId: paid, plan: 'paid', count: 1 },
  ]
  expect(await consumeQuota(db, requests, at)).toEqual([true, true, false, true, true])
  expect(await acceptedInMonth(db, free, at)).toBe(3000)
  expect(await acceptedInMonth(db, paid, at)).toBe(60_001)
})
