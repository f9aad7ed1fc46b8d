import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mailauthAuthenticator } from '../../src/ports/authenticator/mailauth/mailauth.ts'
import { createCanary } from '../../src/ports/resolver/canary.ts'
import { networkResolver } from '../../src/ports/resolver/network/network.ts'
import { type FreshDatabase, freshDatabase } from '../harness/database.ts'
import { startDns, type TestDns } from '../harness/dns.ts'
import { inboundPipeline, inMemory, mailTo, message, messagesOf, receiver, refusalOf } from './fixtures.ts'

let database: FreshDatabase
let dns: TestDns

beforeAll(async () => {
  database = await freshDatabase()
  dns = await startDns()
})
afterAll(async () => {
  await dns.close()
  await database.close()
})

const ourName = 'mx.ours.example'

/** An inbound pipeline that uses the DNS server, and a recipient of it. */
async function receiving() {
  const resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 200 })
  const checking = { resolver, hostname: ourName, messageTimeoutMs: 5000 }
  const ours = await receiver(database)
  await ours.mailbox('hello')
  const inbound = inboundPipeline(ours, {
    authenticator: mailauthAuthenticator(checking),
    canary: createCanary(resolver, ourName),
  })
  const recipient = await inbound.findRecipient(`hello@${ours.domain}`)
  return { ours, resolver, receive: () => inbound.receive(mailTo([recipient], inMemory(message()))) }
}

test('files the message of a sender whose DNS servers do not answer, while our resolver does', async () => {
  const { ours, receive } = await receiving()
  for (const name of ['x.test', '_dmarc.x.test']) dns.zone[name] = { behaviour: { silent: true } }
  await receive()
  expect(await messagesOf(ours)).toMatchObject([{ folder: 'inbox', spf: 'temperror', dmarc: 'temperror' }])
})

test('defers a message while our own resolver does not answer, and accepts it when it does', async () => {
  const { ours, resolver, receive } = await receiving()
  delete dns.zone['x.test']
  // A cached answer for the canary does not show that the resolver works.
  expect(await resolver.resolve(ourName, 'A')).toMatchObject({ kind: 'none' })
  for (const name of ['x.test', '_dmarc.x.test', ourName]) dns.zone[name] = { behaviour: { silent: true } }
  expect(await refusalOf(receive())).toBe('resolver_away')
  expect(await messagesOf(ours)).toEqual([])

  for (const name of ['x.test', '_dmarc.x.test', ourName]) delete dns.zone[name]
  await receive()
  expect(await messagesOf(ours)).toMatchObject([{ spf: 'none', dmarc: 'none' }])
})

test('does not look up the canary for a message without DNS errors', async () => {
  const { receive } = await receiving()
  dns.questions.length = 0
  await receive()
  expect(dns.questionCount('x.test')).toBeGreaterThan(0)
  expect(dns.questionCount(ourName)).toBe(0)
})

test('looks up the canary once for all messages with DNS errors at the same time', async () => {
  const { receive } = await receiving()
  for (const name of ['x.test', '_dmarc.x.test']) dns.zone[name] = { behaviour: { rcode: 'SERVFAIL' } }
  dns.questions.length = 0
  await Promise.all(Array.from({ length: 20 }, receive))
  expect(dns.questionCount(ourName)).toBe(1)
})
