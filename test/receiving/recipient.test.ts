import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { type Id, newId } from '../../src/base/ids.ts'
import { secretsOf } from '../../src/base/secrets/secrets.ts'
import { newReturnPaths } from '../../src/sending/reports/return-path.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { inboundPipeline, type Receiver, receiver, refusalOf } from './fixtures.ts'

let database: FreshDatabase
let ours: Receiver
let hello: Id<'mbx'>

beforeAll(async () => {
  database = await freshDatabase()
  ours = await receiver(database)
  hello = await ours.mailbox('hello')
})

afterAll(() => database.close())

test('finds a mailbox without regard to case', async () => {
  const { findRecipient } = inboundPipeline(ours)
  expect(await findRecipient(`HeLLo@${ours.domain.toUpperCase()}`)).toEqual({
    address: `HeLLo@${ours.domain}`,
    organizationId: ours.organizationId,
    brandId: ours.brandId,
    domainId: ours.domainId,
    mailboxId: hello,
  })
})

test('finds the mailbox named before a plus, unless there is one with the whole name', async () => {
  const exact = await ours.mailbox('hello+exact')
  const { findRecipient } = inboundPipeline(ours)
  const found = await findRecipient(`hello+a+b@${ours.domain}`)
  expect([found.mailboxId, found.address]).toEqual([hello, `hello+a+b@${ours.domain}`])
  expect((await findRecipient(`Hello+Exact@${ours.domain}`)).mailboxId).toBe(exact)
})

test('falls back on the catch-all', async () => {
  const other = await receiver(database)
  const [named, all] = [await other.mailbox('named'), await other.mailbox('')]
  const { findRecipient } = inboundPipeline(other)
  const found = async (localPart: string) => (await findRecipient(`${localPart}@${other.domain}`)).mailboxId
  expect(await found('named')).toBe(named)
  expect(await found('anything')).toBe(all)
  expect(await found('+tag')).toBe(all)
  expect(await found('postmaster')).toBe(all)
  expect(await found('"a b"')).toBe(all)
  expect(await found('üser')).toBe(all)
})

test('refuses unknown addresses', async () => {
  const { findRecipient } = inboundPipeline(ours)
  expect(await refusalOf(findRecipient(`nobody@${ours.domain}`))).toBe('mailbox_unknown')
  expect(await refusalOf(findRecipient('hello@elsewhere.test'))).toBe('relay_denied')
  expect(await refusalOf(findRecipient(`hello@sub.${ours.domain}`))).toBe('relay_denied')
  for (const address of [
    'hello',
    '@',
    `@${ours.domain}`,
    'hello@',
    `a b@${ours.domain}`,
    'a@[192.0.2.1]',
    `<hello@${ours.domain}>`,
  ])
    expect(await refusalOf(findRecipient(address))).toBe('address_malformed')
})

test('accepts nothing for a domain whose receiving identity is not verified', async () => {
  const other = await receiver(database)
  await other.mailbox('hello')
  await database.db
    .updateTable('receiving_claims')
    .set({ identity_verified: 0 })
    .where('domain', '=', other.domain)
    .execute()
  expect(await refusalOf(inboundPipeline(other).findRecipient(`hello@${other.domain}`))).toBe('receiving_not_ready')
})

test('accepts nothing for a mailbox of another organization with the same domain', async () => {
  const other = await receiver(database)
  await database.db.updateTable('domains').set({ domain: ours.domain }).where('id', '=', other.domainId).execute()
  await other.mailbox('theirs')
  expect(await refusalOf(inboundPipeline(ours).findRecipient(`theirs@${ours.domain}`))).toBe('mailbox_unknown')
})

test('finds the operator for mail to a postmaster', async () => {
  const other = await receiver(database)
  const own = await other.mailbox('abuse')
  const { findRecipient } = inboundPipeline(other, { postmaster: `hello@${ours.domain}` })
  for (const address of ['postmaster', 'PostMaster', `postmaster@${other.domain}`, `POSTMASTER@${other.domain}`]) {
    const found = await findRecipient(address)
    expect([found.address, found.mailboxId, found.organizationId]).toEqual([address, hello, ours.organizationId])
  }
  expect((await findRecipient(`abuse@${other.domain}`)).mailboxId).toBe(own)
  expect((await findRecipient(`abuse@${ours.domain}`)).mailboxId).toBe(hello)
  expect(await refusalOf(findRecipient('postmaster@elsewhere.test'))).toBe('relay_denied')
  expect(await refusalOf(findRecipient('abuse'))).toBe('address_malformed')
  expect(await refusalOf(inboundPipeline(other).findRecipient('postmaster'))).toBe('mailbox_unknown')
})

test('gives each of many concurrent lookups its own result', async () => {
  const { findRecipient } = inboundPipeline(ours)
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      i % 2
        ? findRecipient(`hello+${i}@${ours.domain}`).then(found => found.mailboxId)
        : refusalOf(findRecipient(`nobody${i}@${ours.domain}`)),
    ),
  )
  expect(answers.every((answer, i) => answer === (i % 2 ? hello : 'mailbox_unknown'))).toBe(true)
})

test('accepts mail for a postmaster at the domains of bounce addresses, and for nobody else there', async () => {
  const host = `bounces.${ours.domain}`
  const bounces = { returnPaths: newReturnPaths(secretsOf([randomBytes(32)])), hostname: 'mx.ours.test' }
  await database.db
    .insertInto('domain_records')
    .values({
      id: newId('rec'),
      domain_id: ours.domainId,
      purpose: 'return_path',
      type: 'MX',
      name: host,
      value: 'mx.ours.test',
      priority: 10,
      required: 0,
      status: 'pending',
      found: '[]',
      checked_at: null,
    })
    .execute()
  const { findRecipient } = inboundPipeline(ours, { bounces, postmaster: `hello@${ours.domain}` })
  for (const address of [
    `postmaster@${host}`,
    `PostMaster@${host.toUpperCase()}`,
    `abuse@${host}`,
    'abuse@mx.ours.test',
  ]) {
    const found = await findRecipient(address)
    expect([found.address, found.mailboxId, found.bounceOf]).toEqual([address, hello, undefined])
  }
  for (const address of [`hello@${host}`, `postmaster+x@${host}`, 'hello@mx.ours.test', 'postmaster@mx.other.test'])
    expect(await refusalOf(findRecipient(address))).toBe('relay_denied')
  const { findRecipient: withoutOperator } = inboundPipeline(ours, { bounces })
  expect(await refusalOf(withoutOperator(`postmaster@${host}`))).toBe('mailbox_unknown')
})
