import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { type Instant, instantAt, microsecondsOf, plusMs } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/database/database.ts'
import { insertRows } from '../../../src/base/database/insert-rows.ts'
import { up } from '../../../src/base/database/migrations/0003-interface.ts'
import { type EmailStatus, toJson } from '../../../src/base/database/schema.ts'
import { newId } from '../../../src/base/ids.ts'
import { emailLookupRows } from '../../../src/sending/emails/email-index.ts'
import { type EmailListQuery, listEmails } from '../../../src/sending/emails/emails.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { countRowsRead } from '../../harness/rows-read.ts'
import { makeDomain, makeOrganization, type Organization, sendingOn, stoppedClock } from '../fixtures.ts'

let database: FreshDatabase
let acme: Organization
let rare: { readonly brandId: Organization['brandId'] }
let all: readonly string[]

const taken = 3000
const copied = 7000
const plain = { from: 'ann@acme.example', subject: 'Hello', text: 'Hello' }
const reader = () => ({ organizationId: acme.organizationId, brandId: null })

beforeAll(async () => {
  database = await freshDatabase()
  acme = await makeOrganization(database.db)
  rare = await makeDomain(database.db, acme.organizationId, 'rare.example')
  await acceptAtOneInstant()
  await copyBefore()
  all = await idsOf(database.db)
}, 120_000)
afterAll(() => database.close())

/** Really accepted, by a clock that stands still: the rule for collisions gives each its own microsecond. */
async function acceptAtOneInstant(): Promise<void> {
  const deps = sendingOn(database.db, stoppedClock('2026-05-05T05:05:05Z'))
  const numbers = Array.from({ length: taken }, (_, i) => i)
  await Promise.all(
    numbers.map(i => {
      const tags = i % 10 === 0 ? [{ name: 'kind', value: 'receipt' }] : []
      const to = i % 10 === 1 ? 'Often@often.example' : `r${i}@x.example`
      return send({ sender: acme.sender, fields: { ...plain, to, tags } }, deps)
    }),
  )
}

/** More of the same, one after the other in the hours before; a few of the oldest are what the filters look for. */
async function copyBefore(): Promise<void> {
  const { db } = database
  const model = await db.selectFrom('emails').selectAll().limit(1).executeTakeFirstOrThrow()
  const oldest = instantAt(microsecondsOf(model.created_at) - 10 * 3_600_000_000)
  for (let from = 0; from < copied; from += 500) {
    const rows = Array.from({ length: 500 }, (_, k) => {
      const i = from + k
      const created_at = plusMs(oldest, i * 1000)
      return {
        ...model,
        id: newId('eml'),
        created_at,
        last_event_at: created_at,
        brand_id: i % 1000 === 5 ? rare.brandId : acme.brandId,
        status: (i < 5 ? 'failed' : i % 10 === 0 ? 'sent' : 'queued') as EmailStatus,
        tags: toJson([
          ...(i < 5 ? [{ name: 'rare', value: 'é:ü' }] : []),
          ...(i % 10 === 2 ? [{ name: 'kind', value: 'receipt' }] : []),
        ]),
      }
    })
    const recipients = rows.map((row, k) => ({
      email_id: row.id,
      position: 0,
      organization_id: row.organization_id,
      email: from + k < 5 ? 'Rare@rare.example' : (from + k) % 10 === 3 ? 'often@often.example' : 'else@x.example',
      type: 'to' as const,
      status: row.status,
      smtp_code: null,
      enhanced_code: null,
      detail: null,
      updated_at: row.created_at,
    }))
    await insertRows(db, 'emails', rows)
    await insertRows(db, 'email_recipients', recipients)
    await insertRows(
      db,
      'email_lookups',
      rows.flatMap((row, k) => emailLookupRows(row, recipients.slice(k, k + 1))),
    )
  }
}

/** Of what there is now, oldest first. */
async function idsOf(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('emails')
    .select('id')
    .where('organization_id', '=', acme.organizationId)
    .orderBy('created_at')
    .execute()
  return rows.map(row => row.id)
}

/** All pages from the newest on; `between` is awaited after each. */
async function walk(query: EmailListQuery, between: () => Promise<unknown> = async () => undefined): Promise<string[]> {
  const seen: string[] = []
  let before: string | null = null
  do {
    const page = await listEmails(database.db, reader(), { limit: '200', ...query, ...(before && { before }) })
    seen.push(...page.data.map(email => email.id))
    before = page.next_before
    await between()
  } while (before !== null)
  return seen
}

test('gives emails of the same instant different microseconds', async () => {
  const rows = await database.db
    .selectFrom('emails')
    .select(sql<number>`COUNT(DISTINCT created_at)`.as('count'))
    .where('created_at', '>=', '2026-05-05 05:05:05.000000' as Instant)
    .where('created_at', '<', '2026-05-05 05:05:05.100000' as Instant)
    .executeTakeFirstOrThrow()
  expect(Number(rows.count)).toBe(taken)
  expect(all).toHaveLength(taken + copied)
})

test('paging shows each of 10,000 rows exactly once, in order, while others are added', async () => {
  const deps = sendingOn(database.db)
  const before = await idsOf(database.db)
  const seen = await walk({}, () =>
    Promise.all(
      Array.from({ length: 4 }, () => send({ sender: acme.sender, fields: { ...plain, to: 'new@x.example' } }, deps)),
    ),
  )
  expect(seen).toEqual([...before].reverse())
  expect((await idsOf(database.db)).length).toBeGreaterThan(before.length + 100)
}, 60_000)

describe('paging with a filter shows what the filter matches, each once', () => {
  const cases: readonly (readonly [EmailListQuery, () => Promise<readonly { readonly id: string }[]>])[] = [
    [{ status: 'sent' }, () => emails().where('status', '=', 'sent').execute()],
    [{ status: 'failed' }, () => emails().where('status', '=', 'failed').execute()],
    [{ tag: 'rare:é:ü' }, () => emails().where('tags', 'like', '%rare%').execute()],
    [{ tag: 'kind:receipt' }, () => emails().where('tags', 'like', '%receipt%').execute()],
    [{ recipient: 'OFTEN@Often.example' }, () => emails().where(has('often@often.example')).execute()],
    [
      { recipient: 'often@often.example', status: 'queued' },
      () => emails().where(has('often@often.example')).where('status', '=', 'queued').execute(),
    ],
    [
      { tag: 'kind:receipt', status: 'failed' },
      () => emails().where('tags', 'like', '%receipt%').where('status', '=', 'failed').execute(),
    ],
    [
      { tag: 'rare:é:ü', recipient: 'rare@rare.example', status: 'failed' },
      () => emails().where('status', '=', 'failed').execute(),
    ],
    [{ tag: 'kind:invoice' }, async () => []],
  ]
  const emails = () =>
    database.db
      .selectFrom('emails')
      .select('id')
      .where('organization_id', '=', acme.organizationId)
      .orderBy('created_at', 'desc')
  const has = (email: string) =>
    sql<boolean>`EXISTS (SELECT 1 FROM email_recipients r WHERE r.email_id = emails.id AND LOWER(r.email) = ${email})`
  for (const [query, expected] of cases)
    test(JSON.stringify(query), async () => {
      const rows = await expected()
      expect(await walk(query)).toEqual(rows.map(row => row.id))
    })

  test('of one brand', async () => {
    const rows = await emails().where('brand_id', '=', rare.brandId).execute()
    expect(rows).toHaveLength(copied / 1000)
    expect(await walk({ brand_id: rare.brandId })).toEqual(rows.map(row => row.id))
    const few = await emails().where('brand_id', '=', rare.brandId).where('status', '=', 'failed').execute()
    expect(await walk({ brand_id: rare.brandId, status: 'failed' })).toEqual(few.map(row => row.id))
    expect(await walk({ brand_id: rare.brandId, recipient: 'else@x.example' })).toHaveLength(copied / 1000)
    expect(await walk({ brand_id: rare.brandId, tag: 'kind:receipt' })).toEqual([])
  })
})

describe('a page reads about as many rows as it shows, however many exist', () => {
  for (const query of [
    {},
    { status: 'failed' },
    { status: 'queued' },
    { status: 'complained' },
    { tag: 'rare:é:ü' },
    { tag: 'kind:receipt' },
    { tag: 'no:where' },
    { recipient: 'rare@rare.example' },
    { recipient: 'else@x.example' },
    { recipient: 'nobody@x.example' },
    { before: '2026-05-05T05:05:05.000100Z' },
    { before: '2026-05-05T05:05:05.000100Z', status: 'sent' },
    { before: '2026-05-05T05:05:05.000100Z', tag: 'kind:receipt' },
    { before: '2026-05-05T05:05:05.000100Z', recipient: 'else@x.example' },
  ] as const satisfies readonly EmailListQuery[])
    for (const ofBrand of [false, true])
      test(`${JSON.stringify(query)}${ofBrand ? ' of a brand' : ''}`, async () => {
        const asked: EmailListQuery = { limit: '50', ...query, ...(ofBrand && { brand_id: rare.brandId }) }
        const read = await countRowsRead(database.db, db => listEmails(db, reader(), asked))
        expect(read).toBeLessThan(200)
      })
})

test('the migration creates the same lookups for emails from before', async () => {
  const { db } = database
  const lookups = () =>
    db.selectFrom('email_lookups').selectAll().orderBy('lookup').orderBy('created_at').orderBy('email_id').execute()
  const before = await lookups()
  expect(before.length).toBeGreaterThan(taken + copied)
  await db.deleteFrom('email_lookups').execute()
  await up(db as never)
  expect(await lookups()).toEqual(before)
  await up(db as never)
  expect(await lookups()).toEqual(before)
}, 60_000)
