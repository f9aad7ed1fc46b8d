import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../../src/base/database/database.ts'
import { toJson } from '../../../src/base/database/schema.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { getDomain, listDomains, removeDomain } from '../../../src/domains/domains.ts'
import {
  createMailbox,
  listMailboxes,
  parseLocalPart,
  removeMailbox,
} from '../../../src/domains/mailboxes/mailboxes.ts'
import type { DomainJson } from '../../../src/domains/schema.ts'
import { lockDomain } from '../../../src/domains/table.ts'
import {
  breakName,
  newBrand,
  newTenant,
  openWorld,
  ownedDomain,
  publishAt,
  refusalOf,
  type TestTenant,
  tickingClock,
  type World,
} from '../fixtures.ts'

let world: World
let tenant: TestTenant
let domain: DomainJson

beforeAll(async () => {
  world = await openWorld()
  tenant = await newTenant(world.use.db)
  domain = await ownedDomain(world, tenant, 'post.example')
})
afterAll(() => world.close())

const create = (localPart: string | null, { id }: DomainJson = domain, { owner }: TestTenant = tenant) =>
  createMailbox(world.use, owner, { domainId: id, localPart })
const nothingBlocks = () => Promise.resolve([])

/** A received message, as far as counting goes. */
async function fileMessage(mailboxId: string, change: { folder?: 'inbox' | 'spam'; is_read?: 0 | 1 } = {}) {
  const at = tickingClock().now()
  const id = newId('msg')
  await world.use.db
    .insertInto('messages')
    .values({
      id,
      organization_id: tenant.owner.organizationId,
      brand_id: tenant.brandId,
      mailbox_id: mailboxId as Id<'mbx'>,
      folder: 'inbox',
      folder_reason: 'delivered',
      starred: 0,
      is_read: 0,
      received_at: at,
      size: 1,
      blob_id: newId('blb'),
      sameness: Buffer.alloc(32),
      mail_from: '',
      rcpt_to: 'a@post.example',
      remote_ip: '127.0.0.1',
      helo: 'x',
      tls: null,
      smtputf8: 0,
      message_id: null,
      thread_id: id,
      in_reply_to: null,
      in_reply_to_email_id: null,
      from_address: '',
      from_name: '',
      to_addresses: toJson([]),
      subject: '',
      preview: '',
      attachment_count: 0,
      verdicts: toJson({}),
      spf: 'none',
      dkim: 'none',
      dmarc: 'none',
      scan: 'clean',
      scan_signature: null,
      rescan_at: null,
      release_folder: null,
      ...change,
    })
    .execute()
  return id
}

test('a mailbox has an address and claims the mail of its domain', async () => {
  const made = await create('Hello.World')
  expect(made).toMatchObject({
    domain_id: domain.id,
    brand_id: tenant.brandId,
    local_part: 'hello.world',
    address: 'hello.world@post.example',
    catch_all: false,
    live: false,
    unread_count: 0,
    receiving: { live: false, next_step: 'identity', identity: { dns_records: [{ type: 'CNAME' }] } },
  })
  expect(made.receiving_mx).toEqual(made.receiving.mx.record)
})

test('without a local part it is the catch-all, and there is one', async () => {
  expect(await create(null)).toMatchObject({ local_part: null, address: '*@post.example', catch_all: true })
  expect(await refusalOf(create(null))).toBe('mailbox_exists')
})

test('an address exists once, whatever its case, also when asked twice at once', async () => {
  const results = await Promise.all(['twice', 'TWICE', 'Twice'].map(value => refusalOf(create(value))))
  expect(results.filter(result => result === 'mailbox_exists')).toHaveLength(2)
})

test.each([
  ['a', 'a'],
  ['A.b-c_d', 'a.b-c_d'],
  ["o'neil", "o'neil"],
  ['x'.repeat(64), 'x'.repeat(64)],
])('takes %p as a local part', (text, expected) => {
  expect(parseLocalPart(text)).toBe(expected)
})

test.each([
  '',
  '*',
  'a+b',
  'a@b',
  'a b',
  '.a',
  'a.',
  'a..b',
  '"a"',
  'a%b',
  'a!b',
  'ü',
  '\u212A',
  'a\n',
  'a\0',
  'x'.repeat(65),
])('refuses %p as a local part', text => {
  expect(() => parseLocalPart(text)).toThrow(
    expect.objectContaining({ code: 'invalid_request', detail: expect.objectContaining({ param: 'local_part' }) }),
  )
})

describe('where the claim cannot be made', () => {
  test('the mailbox is there and says that ownership is missing', async () => {
    const unproven = await ownedDomain(world, tenant, 'unproven.example')
    delete world.dns.zone['_mailroom.unproven.example']
    expect(await create('a', unproven)).toMatchObject({ receiving: { live: false, next_step: 'ownership' } })
  })

  test('the mailbox is there and says that DNS did not answer', async () => {
    const silent = await ownedDomain(world, tenant, 'silent.example')
    breakName(world.dns, '_mailroom.silent.example')
    const { receiving } = await create('a', silent)
    expect(receiving).toMatchObject({ live: false, next_step: 'identity' })
    expect(receiving.identity.error).toContain('_mailroom.silent.example')
  })

  test('because another organization has it, there is no mailbox', async () => {
    const other = await newTenant(world.use.db)
    const theirs = await ownedDomain(world, other, 'post.example')
    expect(await refusalOf(create('a', theirs, other))).toBe('receiving_claimed')
    expect(await listMailboxes(world.use, other.owner)).toEqual({ data: [] })
  })
})

test('where mail arrives already, DNS is not asked again', async () => {
  const live = await ownedDomain(world, tenant, 'live.example')
  const { receiving } = await create('a', live)
  publishAt(world.dns, ...receiving.identity.dns_records, receiving.mx.record)
  expect(await create('b', live)).toMatchObject({ live: true })
  world.dns.questions.length = 0
  expect(await create('c', live)).toMatchObject({ live: true, receiving: { live: true } })
  expect(world.dns.questions).toHaveLength(0)
})

test('the list counts what is unread in the inbox', async () => {
  const { id } = await create('counted')
  for (const change of [{}, {}, { is_read: 1 }, { folder: 'spam' }] as const) await fileMessage(id, change)
  const { data } = await listMailboxes(world.use, tenant.owner)
  expect(data.find(each => each.id === id)).toMatchObject({ unread_count: 2, address: 'counted@post.example' })
  expect(data.find(each => each.address === 'hello.world@post.example')).toMatchObject({ unread_count: 0 })
})

test('a deleted mailbox leaves its messages, and its address may be taken again', async () => {
  const { id } = await create('leaver')
  const messageId = await fileMessage(id)
  expect(await removeMailbox(world.use, tenant.owner, id)).toEqual({ deleted: id })
  expect(await refusalOf(removeMailbox(world.use, tenant.owner, id))).toBe('not_found')
  const kept = await world.use.db
    .selectFrom('messages')
    .select('mailbox_id')
    .where('id', '=', messageId)
    .executeTakeFirst()
  expect(kept).toEqual({ mailbox_id: null })
  expect(await create('leaver')).toMatchObject({ unread_count: 0 })
})

describe('deleting a domain', () => {
  test('waits for its mailboxes', async () => {
    const busy = await ownedDomain(world, tenant, 'busy.example')
    const { id } = await create('a', busy)
    expect(await refusalOf(removeDomain(world.use, tenant.owner, busy.id, nothingBlocks))).toBe('domain_in_use')
    await removeMailbox(world.use, tenant.owner, id)
    expect(await removeDomain(world.use, tenant.owner, busy.id, nothingBlocks)).toEqual({
      id: busy.id,
      domain: 'busy.example',
      deleted: true,
      provider_identity_removed: false,
      dns_records_removed: false,
      warning: expect.stringContaining('busy.example'),
    })
    expect(await refusalOf(getDomain(world.use, tenant.owner, busy.id))).toBe('not_found')
    expect(await refusalOf(removeDomain(world.use, tenant.owner, busy.id, nothingBlocks))).toBe('not_found')
  })

  test('waits for what else needs it', async () => {
    const queued = await ownedDomain(world, tenant, 'queued.example')
    const blockers = () => Promise.resolve(['2 queued emails'])
    const removal = removeDomain(world.use, tenant.owner, queued.id, blockers)
    await expect(removal).rejects.toMatchObject({
      code: 'domain_in_use',
      message: 'The domain queued.example still has 2 queued emails.',
    })
    expect(await refusalOf(removal)).toBe('domain_in_use')
    expect(await getDomain(world.use, tenant.owner, queued.id)).toMatchObject({ domain: 'queued.example' })
  })

  test('comes before a mailbox that is made meanwhile', async () => {
    const going = await ownedDomain(world, tenant, 'going.example')
    const { receiving } = await create('a', going)
    publishAt(world.dns, ...receiving.identity.dns_records, receiving.mx.record)
    const { id } = await create('b', going)
    let made: Promise<unknown> = Promise.resolve()
    await inTransaction(world.use.db, async db => {
      await lockDomain(db, tenant.owner.organizationId, going.id as Id<'dom'>)
      made = refusalOf(create('c', going))
      await Bun.sleep(200)
      await db
        .deleteFrom('mailboxes')
        .where('domain_id', '=', going.id as Id<'dom'>)
        .execute()
      await db
        .deleteFrom('domains')
        .where('id', '=', going.id as Id<'dom'>)
        .execute()
    })
    expect(await made).toBe('not_found')
    expect(await refusalOf(removeMailbox(world.use, tenant.owner, id))).toBe('not_found')
  })
})

describe('a key for one brand', () => {
  test('sees and touches what is of that brand only', async () => {
    const brandId = await newBrand(world.use.db, tenant.owner.organizationId)
    const restricted: TestTenant = { owner: { ...tenant.owner, brandId }, brandId }
    const own = await ownedDomain(world, restricted, 'own.example')
    const mine = await create('a', own, restricted)
    const { id } = await create('of-the-other')
    expect((await listDomains(world.use, restricted.owner)).data.map(each => each.domain)).toEqual(['own.example'])
    expect((await listMailboxes(world.use, restricted.owner)).data.map(each => each.id)).toEqual([mine.id])
    const refusals = await Promise.all(
      [
        getDomain(world.use, restricted.owner, domain.id),
        removeDomain(world.use, restricted.owner, domain.id, nothingBlocks),
        create('b', domain, restricted),
        removeMailbox(world.use, restricted.owner, id),
        ownedDomain(world, { ...tenant, owner: restricted.owner }, 'third.example'),
      ].map(refusalOf),
    )
    expect(refusals).toEqual(Array(5).fill('brand_restricted'))
  })

  test("another organization's is as if it did not exist", async () => {
    const other = await newTenant(world.use.db)
    const { id } = await create('hidden')
    const refusals = await Promise.all(
      [
        getDomain(world.use, other.owner, domain.id),
        removeDomain(world.use, other.owner, domain.id, nothingBlocks),
        create('b', domain, other),
        removeMailbox(world.use, other.owner, id),
        ownedDomain(world, { ...tenant, owner: other.owner }, 'fourth.example'),
      ].map(refusalOf),
    )
    expect(refusals).toEqual(Array(5).fill('not_found'))
  })
})
