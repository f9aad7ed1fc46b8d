import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { changeOrganization } from '../../../src/accounts/organizations/organizations.ts'
import { acceptedInMonth, getUsage } from '../../../src/accounts/organizations/quota.ts'
import { type Instant, instantAt, microsecondsOf } from '../../../src/base/clock.ts'
import { inTransaction } from '../../../src/base/database/database.ts'
import type { Id } from '../../../src/base/ids.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { send } from '../../../src/sending/send.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { consumeQuota } from '../../harness/quota.ts'
import { makeDomain, makeOrganization, sendingOn } from '../fixtures.ts'

let server: TestHttpServer
beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database: { db }, clock }) => [emailRoutes(sendingOn(db, clock))] })
})
afterAll(() => server.close())

const plain = { from: 'ann@acme.example', to: 'bob@b.example', subject: 'Hello', text: 'Hello' }

/** An organization on the plan `free` with so many emails left this month, and a key of it. */
async function free(left: number) {
  const { db } = server.database
  const organizationId = await server.newOrganization()
  await changeOrganization(db, server.clock, organizationId, { plan: 'free' })
  await makeDomain(db, organizationId, 'acme.example')
  await inTransaction(db, tx =>
    consumeQuota(tx, [{ organizationId, plan: 'free', count: 3000 - left }], server.clock.now()),
  )
  const { key } = await server.newKey({ organizationId })
  return { organizationId, key }
}

const used = (organizationId: Id<'org'>) => acceptedInMonth(server.database.db, organizationId, server.clock.now())
const countEmails = async (organizationId: Id<'org'>) =>
  (await server.database.db.selectFrom('emails').select('id').where('organization_id', '=', organizationId).execute())
    .length

describe('the plan free', () => {
  test('accepts 10 of 50 concurrent sends when 10 are left, answers 402 to the others, and stores nothing of them', async () => {
    const { organizationId, key } = await free(10)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        server.call('POST', '/v1/emails', { key, json: { ...plain, to: `r${i}@b.example` } }),
      ),
    )
    const statuses = Map.groupBy(answers, answer => answer.status)
    expect([statuses.get(202)?.length, statuses.get(402)?.length]).toEqual([10, 40])
    expect(statuses.get(402)?.[0]?.json.error).toEqual({
      code: 'quota_exceeded',
      message: 'The plan includes no more emails this calendar month (UTC).',
      requirement: 'upgrade_plan',
      resolution: 'Upgrade the plan, or wait for the next month.',
      retryable: false,
    })
    expect([await used(organizationId), await countEmails(organizationId)]).toEqual([3000, 10])
  })

  test('is exact from several processes at once, too', async () => {
    const { organizationId } = await free(10)
    const sender = { organizationId, brandId: null, keyId: null }
    const processes = Array.from({ length: 5 }, () => sendingOn(server.database.db, server.clock))
    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        send({ sender, fields: plain }, processes[i % 5] ?? sendingOn(server.database.db)),
      ),
    )
    expect(answers.filter(answer => answer.status === 'fulfilled')).toHaveLength(10)
    expect([await used(organizationId), await countEmails(organizationId)]).toEqual([3000, 10])
  })

  test('counts an email once, however many recipients it has, and a repeated request not again', async () => {
    const { organizationId, key } = await free(100)
    const json = { ...plain, to: ['a@b.example', 'c@b.example', 'd@b.example'] }
    const request = { key, json, headers: { 'idempotency-key': 'count-me-once' } }
    for (let i = 0; i < 3; i++) expect((await server.call('POST', '/v1/emails', request)).status).toBe(202)
    expect(await used(organizationId)).toBe(2901)
  })

  test('counts nothing for what another check refuses', async () => {
    const { organizationId, key } = await free(100)
    const refused = await server.call('POST', '/v1/emails', { key, json: { ...plain, from: 'a@other.example' } })
    expect([refused.status, await used(organizationId)]).toEqual([422, 2900])
  })

  test('accepts more once the plan is changed', async () => {
    const { organizationId, key } = await free(0)
    const post = async () => (await server.call('POST', '/v1/emails', { key, json: plain })).status
    expect(await post()).toBe(402)
    await changeOrganization(server.database.db, server.clock, organizationId, { plan: 'paid' })
    expect(await post()).toBe(202)
    await changeOrganization(server.database.db, server.clock, organizationId, { plan: 'free' })
    expect(await post()).toBe(402)
  })
})

test('an operation other than POST /v1/emails answers 422', async () => {
  const { organizationId } = await free(0)
  const sender = { organizationId, brandId: null, keyId: null }
  const deps = sendingOn(server.database.db, server.clock)
  for (const [overQuota, status] of [
    [undefined, 402],
    [402, 402],
    [422, 422],
  ] as const) {
    const error = await send({ sender, fields: plain, ...(overQuota && { quotaStatus: overQuota }) }, deps).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(Refusal)
    expect(error).toMatchObject({ code: 'quota_exceeded', status, requirement: 'upgrade_plan' })
  }
})

test('the plan paid goes on, and reports what is beyond it as overage', async () => {
  const { db } = server.database
  const { organizationId, sender } = await makeOrganization(db, { plan: 'paid' })
  await inTransaction(db, tx => consumeQuota(tx, [{ organizationId, plan: 'paid', count: 49_998 }], server.clock.now()))
  const deps = sendingOn(db, server.clock)
  await Promise.all(Array.from({ length: 50 }, () => send({ sender, fields: plain }, deps)))
  expect(await getUsage(db, { id: organizationId, plan: 'paid' }, server.clock.now())).toMatchObject({
    used: 50_048,
    included: 50_000,
    overage: 48,
  })
})

test('a new month begins at midnight UTC', async () => {
  const { db } = server.database
  const { organizationId, sender } = await makeOrganization(db, { plan: 'free' })
  const [last, first] = ['2026-01-31 23:59:59.999000', '2026-02-01 00:00:00.000000'] as [Instant, Instant]
  await consumeQuota(db, [{ organizationId, plan: 'free', count: 2999 }], last)
  const sendAt = (now: Instant) => send({ sender, fields: plain }, sendingOn(db, { now: () => now }))
  await sendAt(last)
  await expect(sendAt(last)).rejects.toThrow('no more emails this calendar month')
  await sendAt(first)
  expect([await acceptedInMonth(db, organizationId, last), await acceptedInMonth(db, organizationId, first)]).toEqual([
    3000, 1,
  ])
})

test('a batch across two months counts each email in its own', async () => {
  const { db } = server.database
  const { organizationId, sender } = await makeOrganization(db, { plan: 'free' })
  const midnight = microsecondsOf('2026-02-01 00:00:00.000000' as Instant)
  // Stands still just before midnight: each email of the batch takes the next microsecond.
  const deps = sendingOn(db, { now: () => instantAt(midnight - 3) })
  const accepted = await Promise.all(Array.from({ length: 10 }, () => send({ sender, fields: plain }, deps)))
  const january = accepted.filter(acceptedEmail => acceptedEmail.createdAt < '2026-02').length
  expect(january).toBe(3)
  expect(await acceptedInMonth(db, organizationId, instantAt(midnight - 1))).toBe(3)
  expect(await acceptedInMonth(db, organizationId, instantAt(midnight))).toBe(7)
})
