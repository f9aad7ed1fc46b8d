import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { fromJson } from '../../../src/base/database/schema.ts'
import type { Id } from '../../../src/base/ids.ts'
import { secretsOf } from '../../../src/base/secrets/secrets.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { newReturnPaths } from '../../../src/sending/reports/return-path.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type DnsNode, startDns, type TestDns } from '../../harness/dns.ts'
import { inboundPipeline, inMemory, mailTo, type Receiver, receiver, reportFixture, sentEmail } from '../fixtures.ts'

const hostname = 'mx.ours.test'
const returnPaths = newReturnPaths(secretsOf([randomBytes(32)]))

let database: FreshDatabase
let dns: TestDns
let shop: Receiver
let domain: string

beforeAll(async () => {
  database = await freshDatabase(4)
  dns = await startDns()
  shop = await receiver(database)
})
afterAll(async () => {
  await dns?.close()
  await database?.close()
})
beforeEach(() => {
  domain = `${randomBytes(5).toString('hex')}.example`
  dns.questions.length = 0
})

/** Postfix's report that it relayed a message to this recipient, with these servers. */
function relayed({
  remote = 'mx.dest.example',
  reporting = 'mx.relay.example',
}: {
  remote?: string
  reporting?: string
}) {
  return reportFixture('postfix-relayed')
    .replace(/^Remote-MTA: .*\r?\n/m, remote === '' ? '' : `Remote-MTA: dns; ${remote}\r\n`)
    .replace('Reporting-MTA: dns; mx.relay.example', `Reporting-MTA: dns; ${reporting}`)
    .replaceAll('bob@dest.example', `bob@${domain}`)
}

async function deliver(id: Id<'eml'>, report: string): Promise<void> {
  const resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 200 })
  const inbound = inboundPipeline(shop, { bounces: { returnPaths, hostname }, resolver })
  const recipient = await inbound.findRecipient(returnPaths.addressOf({ emailId: id, position: 0 }, hostname))
  await inbound.receive(mailTo([recipient], inMemory(report), { mailFrom: '' }))
}

async function eventsOf(id: Id<'eml'>) {
  const rows = await database.db
    .selectFrom('email_events')
    .select(['type', 'detail', 'extra'])
    .where('email_id', '=', id)
    .orderBy('id')
    .execute()
  return rows.map(row => ({ ...row, extra: fromJson(row.extra) }))
}

/** The recipient's status and event after a report, with these DNS records for the recipient's domain and other names. */
async function afterReport(report: string, records?: DnsNode, others: Readonly<Record<string, DnsNode>> = {}) {
  if (records) dns.zone[domain] = records
  Object.assign(dns.zone, others)
  const id = await sentEmail(shop, [`bob@${domain}`])
  await deliver(id, report)
  const [event, ...more] = await eventsOf(id)
  expect(more).toEqual([])
  const email = await database.db.selectFrom('emails').select('status').where('id', '=', id).executeTakeFirstOrThrow()
  return { ...event, status: email.status }
}

const exchangers: DnsNode = { MX: ['10 mx.dest.example', '20 backup.dest.example'] }

test('is delivered if the recipient’s mail exchanger accepted it, which the event names', async () => {
  expect(await afterReport(relayed({}), exchangers)).toMatchObject({
    status: 'delivered',
    type: 'delivered',
    detail: `Accepted by mx.dest.example, a mail exchanger of ${domain}: 250 2.0.0 Ok: queued as 5F2A`,
    extra: { action: 'relayed', remote_mta: 'mx.dest.example', mail_exchanger: 'mx.dest.example' },
  })
})

test.each([
  [
    'the reporter is a mail exchanger that relays further',
    { remote: 'hub.inside.example', reporting: 'Backup.Dest.Example.' },
  ],
  ['the reporter is one and names nobody', { remote: '', reporting: 'mx.dest.example' }],
  ['the name is written in another way', { remote: 'MX.dest.example (198.51.100.7)' }],
])('is delivered if %s', async (_, servers) => {
  expect(await afterReport(relayed(servers), exchangers)).toMatchObject({ status: 'delivered' })
})

test('is delivered if the server is named by an address of a mail exchanger', async () => {
  const hosts = { 'mx.dest.example': { A: ['198.51.100.7'], AAAA: ['2001:db8::7'] } }
  for (const remote of ['[198.51.100.7]', '198.51.100.7', '[IPv6:2001:DB8:0:0::7]']) {
    domain = `${randomBytes(5).toString('hex')}.example`
    expect([remote, (await afterReport(relayed({ remote }), exchangers, hosts)).status]).toEqual([remote, 'delivered'])
  }
  domain = `${randomBytes(5).toString('hex')}.example`
  expect(await afterReport(relayed({ remote: '[198.51.100.8]' }), exchangers, hosts)).toMatchObject({ status: 'sent' })
})

test('is delivered if the domain has no mail exchanger and accepted it itself', async () => {
  expect(await afterReport(relayed({ remote: domain }), { A: ['198.51.100.9'] })).toMatchObject({
    status: 'delivered',
    extra: { mail_exchanger: domain },
  })
})

test('stays sent if another server accepted it', async () => {
  expect(await afterReport(relayed({ remote: 'next.relay.example' }), exchangers)).toMatchObject({
    status: 'sent',
    type: 'sent',
    detail: `Relayed to next.relay.example, which is not known as a mail exchanger of ${domain}: 250 2.0.0 Ok: queued as 5F2A`,
    extra: { action: 'relayed', remote_mta: 'next.relay.example' },
  })
})

const unknown: readonly (readonly [string, DnsNode | undefined])[] = [
  ['accepts no mail (RFC 7505)', { MX: ['0 .'], A: ['198.51.100.9'] }],
  ['is not there', undefined],
  ['has no address either', { TXT: ['nothing'] }],
  ['has mail exchangers elsewhere, and an address', { MX: ['10 mx.dest.example'], A: ['198.51.100.9'] }],
  ['cannot be looked up', { ...exchangers, behaviour: { rcode: 'SERVFAIL' } }],
  ['has servers that do not answer', { ...exchangers, behaviour: { silent: true } }],
]
test.each(unknown)('stays sent if DNS says that the domain %s', async (_, records) => {
  expect(await afterReport(relayed({ remote: domain, reporting: domain }), records)).toMatchObject({
    status: 'sent',
    type: 'sent',
  })
})

test('is delivered by the same report again once DNS says so', async () => {
  dns.zone[domain] = { ...exchangers, behaviour: { rcode: 'SERVFAIL' } }
  const id = await sentEmail(shop, [`bob@${domain}`])
  for (let i = 0; i < 2; i++) await deliver(id, relayed({}))
  dns.zone[domain] = exchangers
  for (let i = 0; i < 2; i++) await deliver(id, relayed({}))
  expect((await eventsOf(id)).map(event => event.type)).toEqual(['sent', 'delivered'])
})

test('looks up DNS only for relayed messages', async () => {
  for (const name of ['delivered', 'postfix', 'postfix-delayed', 'arf-redacted']) {
    const id = await sentEmail(shop)
    await deliver(id, reportFixture(name))
  }
  expect(dns.questions).toEqual([])
  await afterReport(relayed({}), exchangers)
  expect(dns.questionCount(domain, 'MX')).toBe(1)
})
