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
import { isWaitingForLock } from '../../harness/lock-wait.ts'
import { until } from '../../harness/until.ts'
import {
  breakName,
  createTestOrganization,
  type DomainsFixture,
  newBrand,
  openDomainsFixture,
  ownedDomain,
  publishAt,
  refusalOf,
  type TestOrganization,
  tickingClock,
} from '../fixtures.ts'

let fixture: DomainsFixture
let organization: TestOrganization
let domain: DomainJson

beforeAll(async () => {
  fixture = await openDomainsFixture()
  organization = await createTestOrganization(fixture.deps.db)
  domain = await ownedDomain(fixture, organization, 'post.example')
})
afterAll(() => fixture.close())

const create = (localPart: string | null, { id }: DomainJson = domain, { tenant }: TestOrganization = organization) =>
  createMailbox(fixture.deps, tenant, { domainId: id, localPart })
const nothingBlocks = () => Promise.resolve([])

/** Inserts a received message with what counting needs. */
async function fileMessage(mailboxId: string, change: { folder?: 'inbox' | 'spam'; is_read?: 0 | 1 } = {}) {
  const at = tickingClock().now()
  const id = newId('msg')
  await fixture.deps.db
    .insertInto('messages')
    .values({
      id,
      organization_id: organization.tenant.organizationId,
      brand_id: organization.brandId,
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

test('a mailbox has an address and claims receiving for its domain', async () => {
  const created = await create('Hello.World')
  expect(created).toMatchObject({
    domain_id: domain.id,
    brand_id: organization.brandId,
    local_part: 'hello.world',
    address: 'hello.world@post.example',
    catch_all: false,
    live: false,
    unread_count: 0,
    receiving: { live: false, next_step: 'identity', identity: { dns_records: [{ type: 'CNAME' }] } },
  })
  expect(created.receiving_mx).toEqual(created.receiving.mx.record)
})

test('without a local part it is the catch-all, of which there is one', async () => {
  expect(await create(null)).toMatchObject({ local_part: null, address: '*@post.example', catch_all: true })
  expect(await refusalOf(create(null))).toBe('mailbox_exists')
})

test('an address exists once, case-insensitively, also with concurrent requests', async () => {
  const results = await Promise.all(['twice', 'TWICE', 'Twice'].map(value => refusalOf(create(value))))
  expect(results.filter(result => result === 'mailbox_exists')).toHaveLength(2)
})

test.each([
  ['a', 'a'],
  ['A.b-c_d', 'a.b-c_d'],
  ["o'neil", "o'neil"],
  ['x'.repeat(64), 'x'.repeat(64)],
])('accepts %p as a local part', (text, expected) => {
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

describe('when the receiving claim cannot be created', () => {
  test('the mailbox is created and shows that ownership is missing', async () => {
    const unproven = await ownedDomain(fixture, organization, 'unproven.example')
    delete fixture.dns.zone['_mailroom.unproven.example']
    expect(await create('a', unproven)).toMatchObject({ receiving: { live: false, next_step: 'ownership' } })
  })

  test('the mailbox is created and shows that the look-up failed', async () => {
    const silent = await ownedDomain(fixture, organization, 'silent.example')
    breakName(fixture.dns, '_mailroom.silent.example')
    const { receiving } = await create('a', silent)
    expect(receiving).toMatchObject({ live: false, next_step: 'identity' })
    expect(receiving.identity.error).toContain('_mailroom.silent.example')
  })

  test('because another organization has it, the mailbox is refused', async () => {
    const other = await createTestOrganization(fixture.deps.db)
    const theirs = await ownedDomain(fixture, other, 'post.example')
    expect(await refusalOf(create('a', theirs, other))).toBe('receiving_claimed')
    expect(await listMailboxes(fixture.deps, other.tenant)).toEqual({ data: [] })
  })
})

test('without DNS look-ups when the domain receives mail already', async () => {
  const live = await ownedDomain(fixture, organization, 'live.example')
  const { receiving } = await create('a', live)
  publishAt(fixture.dns, ...receiving.identity.dns_records, receiving.mx.record)
  expect(await create('b', live)).toMatchObject({ live: true })
  fixture.dns.questions.length = 0
  expect(await create('c', live)).toMatchObject({ live: true, receiving: { live: true } })
  expect(fixture.dns.questions).toHaveLength(0)
})

test('the list counts unread messages in the inbox', async () => {
  const { id } = await create('counted')
  for (const change of [{}, {}, { is_read: 1 }, { folder: 'spam' }] as const) await fileMessage(id, change)
  const { data } = await listMailboxes(fixture.deps, organization.tenant)
  expect(data.find(item => item.id === id)).toMatchObject({ unread_count: 2, address: 'counted@post.example' })
  expect(data.find(item => item.address === 'hello.world@post.example')).toMatchObject({ unread_count: 0 })
})

test('deleting a mailbox keeps its messages and frees its address', async () => {
  const { id } = await create('leaver')
  const messageId = await fileMessage(id)
  expect(await removeMailbox(fixture.deps, organization.tenant, id)).toEqual({ deleted: id })
  expect(await refusalOf(removeMailbox(fixture.deps, organization.tenant, id))).toBe('not_found')
  const message = await fixture.deps.db
    .selectFrom('messages')
    .select('mailbox_id')
    .where('id', '=', messageId)
    .executeTakeFirst()
  expect(message).toEqual({ mailbox_id: null })
  expect(await create('leaver')).toMatchObject({ unread_count: 0 })
})

describe('deleting a domain', () => {
  test('is refused while it has mailboxes', async () => {
    const busy = await ownedDomain(fixture, organization, 'busy.example')
    const { id } = await create('a', busy)
    expect(await refusalOf(removeDomain(fixture.deps, organization.tenant, busy.id, nothingBlocks))).toBe(
      'domain_in_use',
    )
    await removeMailbox(fixture.deps, organization.tenant, id)
    expect(await removeDomain(fixture.deps, organization.tenant, busy.id, nothingBlocks)).toEqual({
      id: busy.id,
      domain: 'busy.example',
      deleted: true,
      provider_identity_removed: false,
      dns_records_removed: false,
      warning: expect.stringContaining('busy.example'),
    })
    expect(await refusalOf(getDomain(fixture.deps, organization.tenant, busy.id))).toBe('not_found')
    expect(await refusalOf(removeDomain(fixture.deps, organization.tenant, busy.id, nothingBlocks))).toBe('not_found')
  })

  test('is refused while something else needs it', async () => {
    const queued = await ownedDomain(fixture, organization, 'queued.example')
    const blockers = () => Promise.resolve(['2 queued emails'])
    const removal = removeDomain(fixture.deps, organization.tenant, queued.id, blockers)
    await expect(removal).rejects.toMatchObject({
      code: 'domain_in_use',
      message: 'The domain queued.example still has 2 queued emails.',
    })
    expect(await refusalOf(removal)).toBe('domain_in_use')
    expect(await getDomain(fixture.deps, organization.tenant, queued.id)).toMatchObject({ domain: 'queued.example' })
  })

  test('wins against a mailbox that is created meanwhile', async () => {
    const deletedDomain = await ownedDomain(fixture, organization, 'going.example')
    const { receiving } = await create('a', deletedDomain)
    publishAt(fixture.dns, ...receiving.identity.dns_records, receiving.mx.record)
    const { id } = await create('b', deletedDomain)
    let created: Promise<unknown> = Promise.resolve()
    await inTransaction(fixture.deps.db, async db => {
      await lockDomain(db, organization.tenant.organizationId, deletedDomain.id as Id<'dom'>)
      created = refusalOf(create('c', deletedDomain))
      await until(() => isWaitingForLock(fixture.deps.db, 'domains'), {
        what: 'the creation waits for the lock on the domain',
      })
      await db
        .deleteFrom('mailboxes')
        .where('domain_id', '=', deletedDomain.id as Id<'dom'>)
        .execute()
      await db
        .deleteFrom('domains')
        .where('id', '=', deletedDomain.id as Id<'dom'>)
        .execute()
    })
    expect(await created).toBe('not_found')
    expect(await refusalOf(removeMailbox(fixture.deps, organization.tenant, id))).toBe('not_found')
  })
})

describe('a key for one brand', () => {
  test("sees and changes only that brand's domains and mailboxes", async () => {
    const brandId = await newBrand(fixture.deps.db, organization.tenant.organizationId)
    const restricted: TestOrganization = { tenant: { ...organization.tenant, brandId }, brandId }
    const own = await ownedDomain(fixture, restricted, 'own.example')
    const mine = await create('a', own, restricted)
    const { id } = await create('of-the-other')
    expect((await listDomains(fixture.deps, restricted.tenant)).data.map(item => item.domain)).toEqual(['own.example'])
    expect((await listMailboxes(fixture.deps, restricted.tenant)).data.map(item => item.id)).toEqual([mine.id])
    const refusals = await Promise.all(
      [
        getDomain(fixture.deps, restricted.tenant, domain.id),
        removeDomain(fixture.deps, restricted.tenant, domain.id, nothingBlocks),
        create('b', domain, restricted),
        removeMailbox(fixture.deps, restricted.tenant, id),
        ownedDomain(fixture, { ...organization, tenant: restricted.tenant }, 'third.example'),
      ].map(refusalOf),
    )
    expect(refusals).toEqual(Array(5).fill('brand_restricted'))
  })

  test("another organization's domains and mailboxes do not exist", async () => {
    const other = await createTestOrganization(fixture.deps.db)
    const { id } = await create('hidden')
    const refusals = await Promise.all(
      [
        getDomain(fixture.deps, other.tenant, domain.id),
        removeDomain(fixture.deps, other.tenant, domain.id, nothingBlocks),
        create('b', domain, other),
        removeMailbox(fixture.deps, other.tenant, id),
        ownedDomain(fixture, { ...organization, tenant: other.tenant }, 'fourth.example'),
      ].map(refusalOf),
    )
    expect(refusals).toEqual(Array(5).fill('not_found'))
  })
})
