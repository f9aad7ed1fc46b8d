import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dayMs, plusMs } from '../../src/base/clock.ts'
import { claimLease, deleteLease } from '../../src/base/database/leases-table.ts'
import { mysqlDataDir } from '../../src/base/database/mysql-data-dir.ts'
import { newSortableToken } from '../../src/base/ids.ts'
import { registry } from '../../src/base/observability/metrics.ts'
import { CommandError, UsageError } from '../../src/base/operator-error.ts'
import { retentionCommand } from '../../src/cli/retention.ts'
import { measureStorage } from '../../src/retention/storage/storage-metrics.ts'
import { messageOf, openTestInbox, type ReceivingDomain, type TestInbox } from '../harness/inbox.ts'

let inbox: TestInbox
let us: ReceivingDomain

beforeAll(async () => {
  inbox = await openTestInbox()
  us = await inbox.createReceivingDomain()
})
afterAll(() => inbox.close())

const db = () => inbox.server.database.db
const daysAgo = (days: number) => plusMs(inbox.server.clock.now(), -days * dayMs)

function run(...args: readonly string[]) {
  const { database, varFolder } = inbox.server
  return retentionCommand.run(args, { MAILROOM_DATABASE_URL: database.url, MAILROOM_VAR: varFolder }, 'json')
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function json(...args: readonly string[]): Promise<any> {
  return (await run(...args))?.json
}

async function trashed(days: number): Promise<string> {
  const id = await inbox.deliver(messageOf(), `hello@${us.domain}`)
  await db()
    .updateTable('messages')
    .set({ folder: 'trash', folder_since: daysAgo(days), indexed: 1 })
    .where('id', '=', id)
    .execute()
  return id
}

test('set changes a retention time, show lists it, inherit removes it, and the audit log has who did it', async () => {
  const policyOf = async (scope: string) =>
    (await json('show')).find(
      (policy: { scope: string; kind: string }) => policy.scope === scope && policy.kind === 'spam',
    )
  expect((await policyOf('instance')).days).toBe(30)
  expect(await json('set', '--brand', us.brandId, 'spam', '5')).toEqual({ scope: us.brandId, kind: 'spam', days: 5 })
  await json('set', 'spam', 'forever')
  // What is so already leaves no entry.
  await json('set', 'spam', 'forever')
  await json('set', '--brand', us.brandId, 'trash', 'inherit')
  expect((await policyOf(us.brandId)).days).toBe(5)
  expect((await policyOf('instance')).days).toBeNull()
  await json('set', '--brand', us.brandId, 'spam', 'inherit')
  await json('set', 'spam', 'inherit')
  expect(await policyOf(us.brandId)).toBeUndefined()
  expect((await policyOf('instance')).days).toBe(30)
  const entries = await db().selectFrom('audit_log').select('subject').where('action', '=', 'retention.set').execute()
  expect(entries.length).toBe(4)
})

test.each([
  [['set', 'mail', '5'], UsageError, '"mail" is not a kind'],
  [['set', 'spam', '0'], UsageError, 'a number of days from 1 to'],
  [['set', 'events', '3'], UsageError, 'a number of days from 7 to'],
  [['set', '--brand', 'brd_00000000000000000000000000', 'spam', '5'], CommandError, 'There is no brand'],
  [['set', '--org', 'org_00000000000000000000000000', 'spam', '5'], CommandError, 'There is no organization'],
  [
    ['set', '--org', `org_${'0'.repeat(26)}`, '--brand', `brd_${'0'.repeat(26)}`, 'spam', '5'],
    UsageError,
    'exclude each other',
  ],
  [['forget'], UsageError, '"forget" is not a command of ./mailroom retention'],
])('%p is refused', async (args, kind, why) => {
  const trouble = await Promise.try(() => run(...args)).catch((error: unknown) => error)
  expect(trouble).toBeInstanceOf(kind)
  expect(String(trouble)).toContain(why)
})

test('plan shows what is due now and within thirty days, and run deletes only what is due now', async () => {
  const [old, young, forEver] = [
    await trashed(31),
    await trashed(10),
    await inbox.deliver(messageOf(), `a@${us.domain}`),
  ]
  const size = (
    await db()
      .selectFrom('messages')
      .select('size')
      .where('id', '=', old as never)
      .executeTakeFirst()
  )?.size
  const { planned } = await json('plan')
  expect(planned).toContainEqual({
    kind: 'trash',
    organization_id: inbox.server.organizationId,
    brand_id: us.brandId,
    days: 30,
    now: { items: 1, bytes: Number(size) },
    within_30_days: { items: 1, bytes: expect.any(Number) },
  })
  const text = (await run('plan'))?.text ?? ''
  expect(text).toMatch(/trash after 30 days, Test brd_\S+: now 1 \(.*\); within 30 days 1 \(.*\) more/)
  expect(text).toContain(`${inbox.server.varFolder} (spool): `)
  const { removed } = await json('run')
  expect(removed.trash).toEqual({ items: 1, bytes: Number(size) })
  const statusOf = async (id: string) => (await inbox.server.call('GET', `/v1/inbox/${id}`)).status
  expect(await Promise.all([old, young, forEver].map(statusOf))).toEqual([404, 200, 200])
  expect((await json('run')).removed).toEqual({})
})

test('only one process at a time has the lease of retention', async () => {
  const { clock } = inbox.server
  const lease = (holder: string, ms: number) => {
    const now = clock.now()
    return claimLease(db(), { name: 'retention', holder, now, until: plusMs(now, ms) })
  }
  const [one, other] = [newSortableToken(), newSortableToken()]
  expect(await lease(one, 60_000)).toBeTrue()
  expect(await lease(one, 60_000)).toBeTrue()
  expect(await lease(other, 60_000)).toBeFalse()
  await deleteLease(db(), 'retention', other)
  expect(await lease(other, 60_000)).toBeFalse()
  await deleteLease(db(), 'retention', one)
  expect(await lease(other, -1)).toBeTrue()
  // An expired lease can be claimed by anybody.
  expect(await lease(one, 60_000)).toBeTrue()
  await deleteLease(db(), 'retention', one)
})

test('the forecast follows the growth over a week and a month, and the metrics show it', async () => {
  await db().deleteFrom('storage_samples').execute()
  const unknown = (await json('plan')).forecast
  expect(unknown.bytes_a_day).toEqual({ over_7_days: null, over_30_days: null })
  const stored = unknown.stored_bytes
  expect(stored).toBeGreaterThan(100_000)
  const sample = (days: number, bytes: number) => ({ taken_at: daysAgo(days), bytes })
  await db()
    .insertInto('storage_samples')
    .values([sample(60, 0), sample(29.9, 0), sample(6.9, stored / 2)])
    .execute()
  const { bytes_a_day, disks, reusable_bytes } = (await json('plan')).forecast
  // The server may have counted some more pages since.
  const near = (value: number, expected: number) => Math.abs(value / expected - 1) < 0.2
  expect(near(bytes_a_day.over_7_days, stored / 2 / 6.9)).toBeTrue()
  expect(near(bytes_a_day.over_30_days, stored / 29.9)).toBeTrue()
  const faster = Math.max(bytes_a_day.over_7_days, bytes_a_day.over_30_days)
  const { database, clock, varFolder } = inbox.server
  const config = { varFolder, databaseUrl: database.url }
  // The disk of a database elsewhere, such as in a container, is unknown.
  const dataFolder = await mysqlDataDir(db(), database.url)
  const disk = disks[0]
  expect([disk.holds, disk.path]).toEqual(dataFolder === undefined ? ['spool', varFolder] : ['database', dataFolder])
  const untilFull = dataFolder === undefined ? null : (disk.free_bytes + reusable_bytes) / faster
  if (untilFull === null) expect(disk.days_until_full).toBeNull()
  else expect(near(disk.days_until_full, untilFull)).toBeTrue()

  await measureStorage({ db: db(), clock, config })
  await measureStorage({ db: db(), clock, config })
  const text = await registry.metrics()
  expect(text).toMatch(/mailroom_stored_bytes\{kind="messages"\} \d+/)
  expect(text).toContain(`mailroom_disk_free_bytes{path="${varFolder}"}`)
  if (untilFull !== null) expect(text).toContain(`mailroom_disk_full_in_seconds{path="${disk.path}"}`)
  // One sample an hour is stored; those older than forty days are deleted.
  expect((await db().selectFrom('storage_samples').select('taken_at').execute()).length).toBe(3)
})
