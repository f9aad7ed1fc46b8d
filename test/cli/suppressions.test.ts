import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { fromIso, type Instant } from '../../src/base/clock.ts'
import { insertRows } from '../../src/base/database/insert-rows.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { mysqlBlobs } from '../../src/ports/blobs/mysql.ts'
import type { SuppressionRow } from '../../src/sending/suppressions/table.ts'
import { undoSuppressions } from '../../src/sending/suppressions/undo.ts'
import { createSendingDomain, insertAcceptedEmails, type SendingDomain } from '../harness/accepted-emails.ts'
import { program, runCommand } from '../harness/cli.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { testClock } from '../harness/http-server.ts'

// Each runs the command, some of them several times.
setDefaultTimeout(60_000)

let database: FreshDatabase
let shop: SendingDomain
let other: SendingDomain
let email: Id<'eml'>
const clock = testClock()

const at = (time: string) => fromIso(`2026-03-01T${time}Z`) as Instant

beforeAll(async () => {
  database = await freshDatabase(4)
  shop = await createSendingDomain(database.db, clock.now(), 'shop.test')
  other = await createSendingDomain(database.db, clock.now(), 'other.test')
  const blobs = mysqlBlobs(database.db, clock)
  email = (await insertAcceptedEmails(database.db, blobs, shop, clock.now(), [{}]))[0] as Id<'eml'>
}, 60_000)
afterAll(() => database.close())
beforeEach(async () => {
  await database.db.deleteFrom('suppressions').execute()
})

async function put(...rows: readonly (Partial<SuppressionRow> & { readonly of?: SendingDomain })[]): Promise<void> {
  for (const { of = shop, ...row } of rows)
    await database.db
      .insertInto('suppressions')
      .values({
        id: newId('sup'),
        organization_id: of.organizationId,
        brand_id: of.brandId,
        email: 'ann@a.test',
        reason: 'hard_bounce',
        source_email_id: null,
        evidence: '550 5.1.1 User unknown',
        created_at: at('08:00:00'),
        expires_at: null,
        unsubscribed_at: null,
        ...row,
      })
      .execute()
}

const left = async () =>
  (await database.db.selectFrom('suppressions').select('email').orderBy('email').execute()).map(row => row.email)
const undo = async (...args: string[]) => {
  const ran = await runCommand(['suppressions', 'undo', ...args, '--json'], { MAILROOM_DATABASE_URL: database.url })
  expect([ran.status, ran.err]).toEqual([0, ''])
  return JSON.parse(ran.out)
}
const undoneBy = async (...args: string[]): Promise<string[]> =>
  (await undo(...args)).undone.map((suppression: { email: string }) => suppression.email)

test('undoes suppressions whose reply contains a text in any case, and reports them', async () => {
  await put(
    { email: 'one@a.test', source_email_id: email, evidence: '550 5.1.1 Relay MISCONFIGURED 100% of the time' },
    { email: 'two@a.test', evidence: '550 5.1.1 User unknown' },
    { email: 'three@a.test', evidence: null },
  )
  const output = await undo('--reply', 'misconfigured 100%')
  expect(output).toEqual({
    dry_run: false,
    count: 1,
    brands: [{ brand_id: shop.brandId, hard_bounce: 1, complaint: 0 }],
    undone: [
      {
        organization_id: shop.organizationId,
        brand_id: shop.brandId,
        email: 'one@a.test',
        reason: 'hard_bounce',
        evidence: '550 5.1.1 Relay MISCONFIGURED 100% of the time',
        source_email_id: email,
        suppressed_at: '2026-03-01T08:00:00.000000Z',
        stays_unsubscribed: false,
      },
    ],
  })
  expect(await left()).toEqual(['three@a.test', 'two@a.test'])
  expect((await undo('--reply', 'misconfigured')).count).toBe(0)
  expect(await undoneBy('--reply', '%')).toEqual([])
})

test('undoes suppressions of a period, without its end, and of one organization', async () => {
  await put(
    { email: 'before@a.test', created_at: at('07:59:59.999999') },
    { email: 'first@a.test', created_at: at('08:00:00') },
    { email: 'last@a.test', created_at: at('08:59:59.999999'), reason: 'complaint' },
    { email: 'after@a.test', created_at: at('09:00:00') },
    { email: 'first@b.test', of: other },
  )
  const hour = ['--from', '2026-03-01T08:00:00Z', '--to', '2026-03-01T10:00:00+01:00']
  expect(await undoneBy(...hour, '--org', shop.organizationId)).toEqual(['first@a.test', 'last@a.test'])
  expect(await undoneBy(...hour)).toEqual(['first@b.test'])
  expect(await left()).toEqual(['after@a.test', 'before@a.test'])
})

test("undoes suppressions of one provider's emails", async () => {
  await put({ email: 'his@a.test', source_email_id: email }, { email: 'no@a.test' })
  expect(await undoneBy('--provider', 'another')).toEqual([])
  expect(await undoneBy('--provider', 'scripted', '--reply', 'no such text')).toEqual([])
  expect(await undoneBy('--provider', 'scripted')).toEqual(['his@a.test'])
})

test('keeps manual suppressions, and that someone unsubscribed', async () => {
  const unsubscribed = at('07:00:00')
  await put(
    { email: 'manual@a.test', reason: 'manual' },
    { email: 'unsub@a.test', reason: 'unsubscribe' },
    { email: 'both@a.test', unsubscribed_at: unsubscribed, expires_at: at('23:00:00') },
  )
  const output = await undo('--reply', '5.1.1')
  expect(output.undone).toMatchObject([{ email: 'both@a.test', stays_unsubscribed: true }])
  expect(await left()).toEqual(['both@a.test', 'manual@a.test', 'unsub@a.test'])
  const both = database.db.selectFrom('suppressions').selectAll().where('email', '=', 'both@a.test')
  expect(await both.executeTakeFirstOrThrow()).toMatchObject({
    reason: 'unsubscribe',
    created_at: unsubscribed,
    evidence: null,
    expires_at: null,
    unsubscribed_at: null,
  })
})

test('a dry run reports the same and changes nothing', async () => {
  await put(...Array.from({ length: 450 }, (_, i) => ({ email: `u${i}@a.test` })))
  const dry = await undo('--reply', '5.1.1', '--dry-run')
  expect([dry.dry_run, dry.count, (await left()).length]).toEqual([true, 450, 450])
  const real = await undo('--reply', '5.1.1')
  expect(real).toEqual({ ...dry, dry_run: false })
  expect(await left()).toEqual([])
})

/** Adds `count` suppressions of one incident. Their ids, sorted. */
async function putMany(count: number): Promise<readonly Id<'sup'>[]> {
  const ids = Array.from({ length: count }, () => newId('sup')).sort()
  const rows = ids.map((id, i) => ({
    id,
    organization_id: shop.organizationId,
    brand_id: shop.brandId,
    email: `u${i}@a.test`,
    reason: 'hard_bounce' as const,
    source_email_id: null,
    evidence: '550 5.1.1 User unknown',
    created_at: at('08:00:00'),
    expires_at: null,
    unsubscribed_at: null,
  }))
  await insertRows(database.db, 'suppressions', rows)
  return ids
}

test('reports a few hundred at a time as they are undone, even if none matches', async () => {
  await putMany(1200)
  for (const reply of ['5.1.1', 'no such text']) {
    const steps = await Array.fromAsync(undoSuppressions(database.db, { reply }, true))
    expect(steps.map(step => step.checkedCount)).toEqual([500, 1000, 1200])
    expect(steps.map(step => step.undone.length)).toEqual(reply === '5.1.1' ? [500, 500, 200] : [0, 0, 0])
  }
})

test('if it is killed half way, it has reported what is removed, and the next run removes the rest', async () => {
  const ids = await putMany(1200)
  const command = ['suppressions', 'undo', '--reply', '5.1.1']
  const lines = await database.db.transaction().execute(async tx => {
    // The command blocks at this row, in its third transaction.
    await tx
      .selectFrom('suppressions')
      .select('id')
      .where('id', '=', ids[1100] as Id<'sup'>)
      .forUpdate()
      .execute()
    const running = Bun.spawn([process.execPath, '--no-env-file', program, ...command], {
      cwd: '/',
      env: { ...process.env, MAILROOM_DATABASE_URL: database.url },
      stdout: 'pipe',
    })
    let text = ''
    for await (const chunk of running.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.split('\n').length > 1000) running.kill('SIGKILL')
    }
    await running.exited
    return text.trimEnd().split('\n')
  })
  const addressOf = (line: string) => line.split('  ')[1] ?? ''
  expect(await left()).toEqual(Array.from({ length: 200 }, (_, i) => `u${1000 + i}@a.test`).sort())
  const { out, status } = await runCommand(command, { MAILROOM_DATABASE_URL: database.url })
  const after = out.split('\n').filter(value => value.includes('@'))
  expect([status, await left(), after.length]).toEqual([0, [], 200])
  expect(new Set([...lines, ...after].map(addressOf)).size).toBe(1200)
}, 60_000)

test('prints the counts of each brand for people', async () => {
  await put({ email: 'one@a.test' }, { email: 'two@a.test', reason: 'complaint', evidence: 'abuse report' })
  const settings = { MAILROOM_DATABASE_URL: database.url }
  const { out } = await runCommand(
    ['suppressions', 'undo', '--from', '2026-03-01T00:00:00Z', '--to', '2026-03-02T00:00:00Z'],
    settings,
  )
  expect(out).toContain(
    `${shop.brandId}  one@a.test  hard_bounce 2026-03-01T08:00:00.000000Z: 550 5.1.1 User unknown\n`,
  )
  expect(out).toContain(`${shop.brandId}  1 hard bounces, 1 complaints\nUndid 2 suppressions.\n`)
})

test.each([
  [[]],
  [['--org', newId('org')]],
  [['--reply', ' ']],
  [['--from', '2026-03-01T00:00:00Z']],
  [['--from', 'yesterday', '--to', '2026-03-01T00:00:00Z']],
  [['--from', '2026-03-02T00:00:00Z', '--to', '2026-03-01T00:00:00Z']],
])('removes nothing without a selection: %p', async args => {
  await put({})
  const { status } = await runCommand(['suppressions', 'undo', ...args], { MAILROOM_DATABASE_URL: database.url })
  expect([status, await left()]).toEqual([2, ['ann@a.test']])
})
