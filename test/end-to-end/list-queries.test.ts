import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { insertInvitation, selectOpenInvitations } from '../../src/accounts/invitations/table.ts'
import { insertMember, selectMembers } from '../../src/accounts/members/table.ts'
import { plusMs } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { insertRows } from '../../src/base/database/insert-rows.ts'
import { toJson } from '../../src/base/database/schema.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { selectDraftSizes } from '../../src/sending/drafts/table.ts'
import {
  type SuppressionFilter,
  type SuppressionRow,
  selectSuppressions,
} from '../../src/sending/suppressions/table.ts'
import { selectTemplateSizes } from '../../src/sending/templates/table.ts'
import { createSendingDomain, type SendingDomain } from '../harness/accepted-emails.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { testClock } from '../harness/http-server.ts'
import { countRowsRead } from '../harness/rows-read.ts'

/** Rows of each kind in an organization; the few rare ones among them are the oldest. */
const many = 3000
const few = 10

let database: FreshDatabase
let shop: SendingDomain
let other: SendingDomain
let rareBrand: Id<'brd'>
const now = testClock().now()

beforeAll(async () => {
  database = await freshDatabase(2)
  const { db } = database
  shop = await createSendingDomain(db, now, 'shop.test')
  other = await createSendingDomain(db, now, 'other.test')
  rareBrand = newId('brd')
  const brand = { name: 'Rare', slug: 'rare', status: 'ready', created_at: now, updated_at: now } as const
  await db
    .insertInto('brands')
    .values({ ...brand, id: rareBrand, organization_id: shop.organizationId })
    .execute()
  for (const { organizationId, brandId } of [shop, other]) {
    const of = { organization_id: organizationId, brand_id: brandId }
    await suppressions(few, { ...of, brand_id: organizationId === shop.organizationId ? rareBrand : brandId })
    await suppressions(few, { ...of, reason: 'manual' })
    await suppressions(many, of)
    await suppressions(few, { ...of, expires_at: plusMs(now, -1000) })
    await templates(few, { ...of, brand_id: organizationId === shop.organizationId ? rareBrand : brandId })
    await templates(many, of)
    await drafts(many, of)
    await members(many, organizationId)
    await invitations(organizationId)
  }
}, 120_000)
afterAll(() => database.close())

async function inBatches<Row>(count: number, row: (i: number) => Row, insert: (rows: Row[]) => Promise<unknown>) {
  for (let from = 0; from < count; from += 500)
    await insert(Array.from({ length: Math.min(500, count - from) }, (_, i) => row(from + i)))
}

interface Of {
  readonly organization_id: Id<'org'>
  readonly brand_id: Id<'brd'>
}

function suppressions(count: number, of: Of & Partial<SuppressionRow>) {
  const fixed = { reason: 'hard_bounce', source_email_id: null, evidence: '550 5.1.1', created_at: now } as const
  return inBatches(
    count,
    () => {
      const id = newId('sup')
      return { id, email: `${id}@a.test`, ...fixed, expires_at: null, unsubscribed_at: null, ...of }
    },
    rows => insertRows(database.db, 'suppressions', rows),
  )
}

function templates(count: number, of: Of) {
  const fixed = { name: 'x', subject: 'x', text: 'x', html: null, variables: toJson([]) }
  return inBatches(
    count,
    () => {
      const id = newId('tpl')
      return { id, ...of, slug: id.slice(4), ...fixed, created_at: now, updated_at: now }
    },
    rows => insertRows(database.db, 'templates', rows),
  )
}

function drafts(count: number, of: Of) {
  const nobody = toJson<readonly string[]>([])
  const fixed = {
    from_header: null,
    to_addresses: nobody,
    cc_addresses: nobody,
    bcc_addresses: nobody,
    reply_to: nobody,
    subject: 'x',
    text: 'x',
    in_reply_to: null,
  }
  return inBatches(
    count,
    () => ({ id: newId('drf'), ...of, ...fixed, created_at: now, updated_at: now }),
    rows => insertRows(database.db, 'drafts', rows),
  )
}

async function members(count: number, organization_id: Id<'org'>): Promise<void> {
  const fixed = {
    name: 'x',
    role: 'member',
    permissions: '',
    created_at: now,
    last_active_at: null,
    user_id: null,
    updated_at: null,
  } as const
  const row = () => {
    const id = newId('mem')
    return { id, organization_id, email: `${id}@a.test`, ...fixed }
  }
  await insertMember(database.db, row())
  await inBatches(count, row, rows => insertRows(database.db, 'members', rows))
}

/** Invitations closed in each of the three ways, and a hundred open ones among them. */
async function invitations(organization_id: Id<'org'>): Promise<void> {
  const fixed = {
    email: null,
    brand_ids: toJson([]),
    permissions: '',
    invited_by: null,
    member_id: null,
    updated_at: null,
  }
  const row = (i: number) => ({
    id: newId('inv'),
    organization_id,
    ...fixed,
    token_hash: Buffer.from(newId('inv').slice(-30).padEnd(32)).subarray(0, 32),
    created_at: now,
    expires_at: plusMs(now, i % 4 === 0 ? -1000 - i : 1000 + i),
    accepted_at: i % 4 === 1 ? now : null,
    revoked_at: i % 4 === 2 || (i % 4 === 3 && i % 40 !== 3) ? now : null,
  })
  await insertInvitation(database.db, { ...row(3), revoked_at: null })
  await inBatches(many, row, rows => insertRows(database.db, 'invitations', rows))
}

interface Page<Row> {
  readonly limit: number
  readonly after: Row | undefined
}

/** Reads a list page by page: its items, and the most rows that the database read for one page. */
async function walk<Row extends { readonly id: string }>(select: (db: Db, page: Page<Row>) => Promise<readonly Row[]>) {
  const shown: string[] = []
  let most = 0
  for (let after: Row | undefined; ; ) {
    let rows: readonly Row[] = []
    const read = await countRowsRead(database.db, async db => {
      rows = await select(db, { limit: 50, after })
    })
    most = Math.max(most, read)
    shown.push(...rows.map(row => row.id))
    if (rows.length < 50) return { count: shown.length, distinct: new Set(shown).size, most }
    after = rows.at(-1)
  }
}

function expectEach({ count, distinct, most }: Awaited<ReturnType<typeof walk>>, expected: number): void {
  expect([count, distinct]).toEqual([expected, expected])
  expect(most).toBeLessThan(200)
}

describe('reading a page costs about as many rows as it shows, however many there are: of', () => {
  const filters: readonly (readonly [string, () => Omit<SuppressionFilter, 'organizationId'>, number])[] = [
    ['all suppressions', () => ({ brandId: null, reason: null }), many + 2 * few],
    ['the suppressions of a brand', () => ({ brandId: shop.brandId, reason: null }), many + few],
    ['the suppressions of a rare brand', () => ({ brandId: rareBrand, reason: null }), few],
    ['the suppressions for a reason', () => ({ brandId: null, reason: 'hard_bounce' }), many + few],
    ['the suppressions for a rare reason', () => ({ brandId: null, reason: 'manual' }), few],
    ['the suppressions for a reason that is none’s', () => ({ brandId: null, reason: 'complaint' }), 0],
    ['the suppressions of a brand for a rare reason', () => ({ brandId: shop.brandId, reason: 'manual' }), few],
    ['the suppressions of a rare brand for a reason', () => ({ brandId: rareBrand, reason: 'hard_bounce' }), few],
    ['the suppressions of a rare brand for none’s', () => ({ brandId: rareBrand, reason: 'manual' }), 0],
  ]
  for (const [what, filter, expected] of filters)
    test(what, async () => {
      const { organizationId } = shop
      const walked = await walk((db, { after, limit }: Page<Awaited<ReturnType<typeof selectSuppressions>>[number]>) =>
        selectSuppressions(db, { organizationId, ...filter() }, { after: after?.id ?? null, limit, now }),
      )
      expectEach(walked, expected)
    })

  for (const [what, brand, expected] of [
    ['all templates', () => null, many + few],
    ['the templates of a brand', () => shop.brandId, many],
    ['the templates of a rare brand', () => rareBrand, few],
  ] as const)
    test(what, async () => {
      const { organizationId } = shop
      const walked = await walk<{ id: Id<'tpl'> }>((db, { after, limit }) =>
        selectTemplateSizes(db, { organizationId, brandId: brand(), after: after?.id ?? null, limit }),
      )
      expectEach(walked, expected)
    })

  test('drafts', async () => {
    const walked = await walk<{ id: Id<'drf'> }>((db, { after, limit }) =>
      selectDraftSizes(db, shop.organizationId, { after: after?.id ?? null, limit }),
    )
    expectEach(walked, many)
  })

  test('members', async () => {
    const walked = await walk<{ id: Id<'mem'> }>((db, { after, limit }) =>
      selectMembers(db, shop.organizationId, { after: after?.id, limit }),
    )
    expectEach(walked, many + 1)
  })

  test('open invitations among closed ones', async () => {
    const walked = await walk((db, page: Page<Awaited<ReturnType<typeof selectOpenInvitations>>[number]>) =>
      selectOpenInvitations(db, shop.organizationId, now, page),
    )
    expectEach(walked, many / 40 + 1)
  })
})
