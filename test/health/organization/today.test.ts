import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SessionMember } from '../../../src/api/session/session.ts'
import type { Tenant } from '../../../src/api/tenant.ts'
import { dayMs, hourMs, type Instant, plusMs, toIso } from '../../../src/base/clock.ts'
import { insertRows } from '../../../src/base/database/insert-rows.ts'
import type { EmailStatus } from '../../../src/base/database/schema.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { deleteWebhook, insertWebhook } from '../../../src/events/webhooks/table.ts'
import { openHourlyCounts } from '../../../src/health/organization/hourly-counts.ts'
import { type OrganizationHealthDeps, readLamps } from '../../../src/health/organization/lamps.ts'
import type { Today } from '../../../src/health/organization/schema.ts'
import { organizationHealthRoutes } from '../../../src/health/organization/session-routes.ts'
import { countSentWithoutReport } from '../../../src/health/organization/table.ts'
import { openOrganizationHealth } from '../../../src/health/organization/today.ts'
import { insertMessages, type NewMessage } from '../../../src/receiving/table.ts'
import { insertEvents } from '../../../src/sending/events/table.ts'
import { pauseBrand } from '../../../src/sending/reports/pause-table.ts'
import { send } from '../../../src/sending/send.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { countRowsRead } from '../../harness/rows-read.ts'
import { callAsMember, testMember } from '../../harness/session.ts'
import { webhookRow } from '../../harness/webhook-row.ts'
import { inboundPipeline, inMemory, mailTo, message, type Receiver, receiver } from '../../receiving/fixtures.ts'
import { makeDomain, makeOrganization, sendingOn, stoppedClock } from '../../sending/fixtures.ts'

const clock = stoppedClock('2026-05-12T10:30:00Z')
const now = clock.now()

let database: FreshDatabase
let acme: Receiver
let deps: OrganizationHealthDeps

beforeAll(async () => {
  database = await freshDatabase()
  acme = await receiver(database)
  deps = { db: database.db, clock, unconfirmedMs: dayMs, reports: 'webhook' }
}, 60_000)
afterAll(() => database.close())

const tenant = () => ({ organizationId: acme.organizationId, brandId: null })
const ofBrand = () => ({ organizationId: acme.organizationId, brandId: acme.brandId })
const elsewhere = () => ({ organizationId: acme.organizationId, brandId: newId('brd') })

/** Emails like one that was really accepted, at these times. */
async function fileEmails(
  { organizationId, brandId, domain }: Pick<Receiver, 'organizationId' | 'brandId' | 'domain'>,
  emails: readonly { readonly at: Instant; readonly status: EmailStatus; readonly sentAt?: Instant }[],
): Promise<void> {
  const { id } = await send(
    {
      sender: { organizationId, brandId: null, keyId: null },
      fields: { from: `a@${domain}`, to: 'b@x.example', subject: 'Hello', text: 'Hello' },
    },
    sendingOn(database.db, stoppedClock('2020-01-01T00:00:00Z')),
  )
  const model = await database.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  await database.db.deleteFrom('emails').where('id', '=', id).execute()
  const rows = emails.map(({ at, status, sentAt = at }, i) => ({
    ...model,
    id: newId('eml'),
    brand_id: brandId,
    created_at: plusMs(at, i / 1000),
    last_event_at: at,
    sent_at: sentAt,
    status,
  }))
  for (let from = 0; from < rows.length; from += 1000)
    await insertRows(database.db, 'emails', rows.slice(from, from + 1000))
}

/** Messages like one that was really received. */
async function fileMessages(to: Receiver, changes: readonly Partial<NewMessage>[]): Promise<void> {
  const mailboxId = await to.mailbox(`box${newId('mbx').slice(-8)}`)
  const recipient = {
    kind: 'mailbox' as const,
    organizationId: to.organizationId,
    brandId: to.brandId,
    domainId: to.domainId,
    mailboxId,
    address: `box@${to.domain}`,
  }
  await inboundPipeline(to).receive(mailTo([recipient as never], inMemory(message())))
  const model = await database.db
    .selectFrom('messages')
    .selectAll()
    .where('mailbox_id', '=', mailboxId)
    .executeTakeFirstOrThrow()
  await database.db.deleteFrom('messages').where('id', '=', model.id).execute()
  await insertMessages(
    database.db,
    changes.map(change => ({ ...model, id: newId('msg'), ...change })),
  )
}

const times = (count: number, row: { readonly at: Instant; readonly status: EmailStatus }) =>
  Array.from({ length: count }, () => row)
const ago = (ms: number) => plusMs(now, -ms)

test('an organization in which all is well has no lamp, and an empty Today', async () => {
  expect(await readLamps(deps, tenant())).toEqual([])
  const today = await openOrganizationHealth(deps).today(tenant())
  expect(today.complete).toBe(true)
  expect(today.hours).toHaveLength(168)
  expect(today.hours.at(-1)).toEqual({ at: '2026-05-12T10:00:00.000000Z', received: 0, accepted: 0, more: false })
  expect(today.events).toEqual([])
  expect(today.first_steps).toEqual({
    domain_ready: true,
    mailbox: false,
    first_in: false,
    first_out: false,
    key: false,
  })
})

test('each trouble lights its lamp, for the whole organization and for its brand alone', async () => {
  await makeDomain(database.db, acme.organizationId, 'pending.example', 'pending')
  await fileMessages(acme, [
    { folder: 'quarantine', received_at: ago(3 * hourMs) },
    { folder: 'quarantine', received_at: ago(2 * hourMs) },
    { folder: 'inbox', received_at: ago(hourMs) },
  ])
  await fileEmails(acme, [
    { at: ago(2 * dayMs), status: 'sent' },
    { at: ago(2 * dayMs), status: 'sent', sentAt: ago(hourMs) },
    { at: ago(hourMs), status: 'sent' },
    ...times(6, { at: ago(2 * hourMs), status: 'bounced' }),
    ...times(20, { at: ago(2 * hourMs), status: 'delivered' }),
    ...times(100, { at: ago(3 * dayMs), status: 'delivered' }),
    { at: ago(3 * dayMs), status: 'bounced' },
  ])
  await pauseBrand(database.db, acme.brandId, 'Too many bounces.', ago(hourMs))
  await database.db.updateTable('organizations').set({ plan: 'free' }).where('id', '=', acme.organizationId).execute()
  await database.db
    .insertInto('usage_months')
    .values({ organization_id: acme.organizationId, month: '2026-05', slot: 0, accepted: 2500 })
    .execute()

  const lamps = await readLamps(deps, tenant())
  expect(lamps.map(({ name, level, count, more, href }) => [name, level, count, more, href])).toEqual([
    ['brands_paused', 'critical', 1, false, '/settings'],
    ['bounces_high', 'critical', 6, false, '/sent?status=bounced'],
    ['domains_not_ready', 'warning', 1, false, '/domains'],
    ['quarantine_waiting', 'warning', 2, false, '/mail/quarantine'],
    ['emails_unconfirmed', 'warning', 1, false, '/sent?status=sent'],
    ['quota_high', 'warning', 83, false, '/settings'],
  ])
  expect(lamps.find(lamp => lamp.name === 'quarantine_waiting')?.since).toBe('2026-05-12T07:30:00.000000Z')
  expect(lamps.find(lamp => lamp.name === 'bounces_high')?.detail).toContain('22.2 %')

  expect((await readLamps(deps, ofBrand())).map(lamp => lamp.name)).not.toContain('domains_not_ready')
  expect((await readLamps(deps, elsewhere())).map(lamp => lamp.name)).toEqual(['quota_high'])
  const silent = await readLamps({ ...deps, reports: 'none' }, tenant())
  expect(silent.find(lamp => lamp.name === 'emails_unconfirmed')?.level).toBe('notice')
})

test('a webhook lights a lamp when it was disabled, but not when somebody here did it', async () => {
  const webhook = (reason: 'gone' | 'requested', brandId: Id<'brd'> | null) =>
    webhookRow(acme.organizationId, now, { brand_id: brandId, disabled_at: ago(hourMs), disabled_reason: reason })
  await insertWebhook(database.db, webhook('requested', null))
  const lit = async (of: Tenant) => (await readLamps(deps, of)).find(({ name }) => name === 'webhooks_disabled')
  expect(await lit(tenant())).toBeUndefined()
  const gone = webhook('gone', acme.brandId)
  await insertWebhook(database.db, gone)
  expect(await lit(tenant())).toMatchObject({
    count: 1,
    level: 'warning',
    href: '/webhooks',
    since: toIso(ago(hourMs)),
  })
  expect(await lit(ofBrand())).toMatchObject({ count: 1 })
  expect(await lit(elsewhere())).toBeUndefined()
  await deleteWebhook(database.db, gone.id)
})

test('sent is not delivered in the totals, and the last events are told with their emails', async () => {
  const email = await database.db
    .selectFrom('emails')
    .select('id')
    .where('status', '=', 'sent')
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow()
  await insertEvents(database.db, [
    {
      id: newId('evt'),
      organization_id: acme.organizationId,
      email_id: email.id,
      recipient: null,
      type: 'replied',
      occurred_at: now,
      recorded_at: now,
      source: 'inbound',
      smtp_code: null,
      enhanced_code: null,
      detail: null,
      bounce: null,
      extra: '{}',
      repeat_key: null,
    },
  ])
  const today = await openOrganizationHealth(deps).today(tenant())
  const totals = Object.fromEntries((today.statuses ?? []).map(({ status, count }) => [status, count]))
  expect(totals).toMatchObject({ sent: 1, delivered: 20, bounced: 6, failed: 0 })
  expect(today.events[0]).toMatchObject({ kind: 'email', type: 'replied', subject_id: email.id, subject: 'Hello' })
  expect(today.events.filter(event => event.kind === 'message')).toHaveLength(3)
  expect(today.hours.at(-3)).toMatchObject({ received: 1, accepted: 26 })
  expect(today.first_steps).toMatchObject({ first_in: true, first_out: true })
})

describe('a member sees what their permissions and brand allow', () => {
  const call = async (path: string, member: SessionMember): Promise<unknown> => {
    const response = await callAsMember(organizationHealthRoutes(deps), path, member)
    return response instanceof Response ? response.json() : response
  }
  const read = async (member: SessionMember) => (await call('/app/api/today', member)) as Today

  test('an owner: all', async () => {
    const today = await read(testMember(acme.organizationId))
    expect(today.statuses).not.toBeNull()
    expect(today.attention).toHaveLength(6)
    expect(today.events).toHaveLength(10)
  })

  test('whoever reads only the inbox: nothing of what was sent', async () => {
    const member = testMember(acme.organizationId, {
      role: 'member',
      brandId: acme.brandId,
      brandIds: [acme.brandId],
      scopes: new Set(['inbox:read']),
    })
    const today = await read(member)
    expect(today.statuses).toBeNull()
    expect(today.hours.every(hour => hour.accepted === null)).toBe(true)
    expect(today.hours.at(-3)?.received).toBe(1)
    expect(today.events.every(event => event.kind === 'message')).toBe(true)
    expect(today.attention.map(lamp => lamp.name)).toEqual(['quarantine_waiting'])
    expect(await call('/app/api/status', member)).toEqual({
      data: [expect.objectContaining({ name: 'quarantine_waiting' })],
    })
  })

  test('somebody without a session: nothing', async () => {
    const owner = testMember(acme.organizationId)
    expect(await callAsMember(organizationHealthRoutes(deps), '/app/api/status', owner, { session: null })).toBe(
      'session_required',
    )
  })
})

describe('with many emails and messages', () => {
  const emails = 30_000
  let large: Receiver

  beforeAll(async () => {
    large = await receiver(database)
    const spread = (i: number) => ago((i % 160) * hourMs + 1000)
    await fileEmails(
      large,
      Array.from({ length: emails }, (_, i) => ({ at: spread(i), status: i % 50 === 0 ? 'sent' : 'delivered' })),
    )
    await fileEmails(large, times(12_000, { at: ago(2 * hourMs), status: 'delivered' }))
    await fileEmails(
      large,
      Array.from({ length: 8000 }, () => ({ at: ago(3 * dayMs), status: 'sent' as const, sentAt: ago(hourMs) })),
    )
    await fileMessages(
      large,
      Array.from({ length: 3000 }, (_, i) => ({ received_at: spread(i), folder: i % 3 === 0 ? 'spam' : 'inbox' })),
    )
  }, 120_000)

  for (const narrowed of [false, true]) {
    const whichever = () => ({ organizationId: large.organizationId, brandId: narrowed ? large.brandId : null })
    const name = narrowed ? ' of a brand' : ''

    test(`counts stop at their limit and say so${name}`, async () => {
      const today = await openOrganizationHealth(deps).today(whichever())
      expect(today.statuses?.find(({ status }) => status === 'delivered')).toEqual({
        status: 'delivered',
        count: 10_000,
        more: true,
      })
      expect(today.hours.reduce((sum, hour) => sum + (hour.received ?? 0), 0)).toBe(3000)
    })

    test(`a lamp reads a bounded number of rows${name}`, async () => {
      const read = await countRowsRead(database.db, db => readLamps({ ...deps, db }, whichever()))
      expect(read).toBeLessThan(40_000)
    })

    test(`emails that were sent long after they were accepted are not all looked at${name}`, async () => {
      const span = { from: ago(8 * dayMs), to: ago(dayMs) }
      const read = await countRowsRead(database.db, db => countSentWithoutReport(db, whichever(), span))
      expect(read).toBeLessThan(5000)
    })

    test(`an hour that is over is counted once${name}`, async () => {
      const rowsOf = (calls: number) =>
        countRowsRead(database.db, async db => {
          const counts = openHourlyCounts({ db, clock })
          for (let i = 0; i < calls; i++) await counts(whichever())
        })
      const once = await rowsOf(1)
      expect(once).toBeGreaterThan(emails)
      expect((await rowsOf(2)) - once).toBeLessThan(2000)
    })

    test(`what is left of a week is counted by the next call, the newest first${name}`, async () => {
      const counts = openHourlyCounts({ db: database.db, clock, limits: { mostPerHour: 1000, mostRows: 5000 } })
      const first = await counts(whichever())
      expect(first.at(-1)?.accepted).not.toBeNull()
      expect(first[0]?.accepted).toBeNull()
      expect(first.at(-3)?.accepted).toBe(1001)
      let calls = 1
      for (let hours = first; hours.some(hour => hour.accepted === null); calls++) hours = await counts(whichever())
      expect(calls).toBeLessThan(10)
    })
  }
})

test('another organization sees nothing of it', async () => {
  const other = await makeOrganization(database.db)
  const tenantOfOther = { organizationId: other.organizationId, brandId: null }
  expect(await readLamps(deps, tenantOfOther)).toEqual([])
  expect((await openOrganizationHealth(deps).today(tenantOfOther)).events).toEqual([])
})
