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

/** A inbound in that asks the DNS server, and its mailbox. */
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

test('files the message of a sender whose DNS servers are silent, while ours answer', async () => {
  const { ours, receive } = await receiving()
  for (const name of ['x.test', '_dmarc.x.test']) dns.zone[name] = { behaviour: { silent: true } }
  await receive()
  expect(await messagesOf(ours)).toMatchObject([{ folder: 'inbox', spf: 'temperror', dmarc: 'temperror' }])
})

test('defers a message when our own DNS servers answer nothing, and takes it when they do', async () => {
  const { ours, resolver, receive } = await receiving()
  delete dns.zone['x.test']
  // What is kept of our name is no sign of life.
  expect(await resolver.resolve(ourName, 'A')).toMatchObject({ kind: 'none' })
  for (const name of ['x.test', '_dmarc.x.test', ourName]) dns.zone[name] = { behaviour: { silent: true } }
  expect(await refusalOf(receive())).toBe('resolver_away')
  expect(await messagesOf(ours)).toEqual([])

  for (const name of ['x.test', '_dmarc.x.test', ourName]) delete dns.zone[name]
  await receive()
  expect(await messagesOf(ours)).toMatchObject([{ spf: 'none', dmarc: 'none' }])
})

test('asks for no name of ours for a message that meets no trouble', async () => {
  const { receive } = await receiving()
  dns.questions.length = 0
  await receive()
  expect(dns.questionCount('x.test')).toBeGreaterThan(0)
  expect(dns.questionCount(ourName)).toBe(0)
})

test('one question speaks for all the messages that meet trouble at the same time', async () => {
  const { receive } = await receiving()
  for (const name of ['x.test', '_dmarc.x.test']) dns.zone[name] = { behaviour: { rcode: 'SERVFAIL' } }
  dns.questions.length = 0
  await Promise.all(Array.from({ length: 20 }, receive))
  expect(dns.questionCount(ourName)).toBe(1)
})
