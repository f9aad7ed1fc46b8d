import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mailauthAuthenticator } from '../../../src/ports/authenticator/mailauth/mailauth.ts'
import { newRepeatedCheck } from '../../../src/ports/authenticator/mailauth/repeated-check.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import type { Resolver } from '../../../src/ports/resolver/port.ts'
import { type DnsZoneFile, startDns, type TestDns } from '../../harness/dns.ts'

let dns: TestDns
beforeAll(async () => {
  dns = await startDns()
})
afterAll(() => dns.close())

const uncached = () => networkResolver({ servers: [dns.endpoint], timeoutMs: 1000 })
/** Has no cache, so that each question comes to the server. */
const resolver: Resolver = { resolve: (name, type, options) => uncached().resolve(name, type, options) }

const newAuthenticator = () => mailauthAuthenticator({ resolver, hostname: 'mx.demo.example', messageTimeoutMs: 5000 })
const bytes = Buffer.from('From: Alice <alice@sender.example>\r\nSubject: Hello\r\n\r\nHello Bob.\r\n')
const message = {
  content: { kind: 'memory', bytes, size: bytes.length },
  remoteIp: '192.0.2.1',
  helo: 'mx.sender.example',
  mailFrom: 'alice@sender.example',
} as const

const failing = { behaviour: { rcode: 'SERVFAIL' } } as const
const zones: readonly DnsZoneFile[] = [
  {},
  { 'sender.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } },
  { 'sender.example': { TXT: ['v=spf1 ip4:192.0.2.9 -all'] } },
  { 'sender.example': { TXT: ['v=spf1 include:other.example ~all'] } },
  {
    'sender.example': { TXT: ['v=spf1 include:other.example ~all'] },
    'other.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  },
  { 'sender.example': { TXT: ['v=spf1 include:other.example ~all'] }, 'other.example': failing },
  { 'sender.example': failing },
  {
    'sender.example': { TXT: ['v=spf1 mx -all'], MX: ['20 b.example', '10 a.example'] },
    'a.example': { A: ['192.0.2.1'] },
  },
  {
    'sender.example': { TXT: ['v=spf1 mx -all'], MX: ['20 b.example', '10 a.example'] },
    'b.example': { A: ['192.0.2.1'] },
  },
  {
    'sender.example': { TXT: ['v=spf1 exists:%{l}.%{i}.other.example -all'] },
    'alice.192.0.2.1.other.example': { A: ['127.0.0.2'] },
  },
  { '_dmarc.sender.example': { TXT: ['v=DMARC1; p=reject'] } },
  { '_dmarc.sender.example': { TXT: ['v=DMARC1; p=quarantine'] } },
  { '_dmarc.sender.example': failing },
  {
    '_dmarc.sender.example': { TXT: ['v=DMARC1; p=reject'] },
    'sender.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] },
  },
  { 'mx.sender.example': { TXT: ['v=spf1 ip4:192.0.2.1 -all'] } },
]
const inputs = [
  {},
  { remoteIp: '192.0.2.9' },
  { mailFrom: 'bob@sender.example' },
  { mailFrom: '' },
  { helo: 'other.example' },
]

test('the verdicts are those of what DNS says now, whatever it said of earlier messages of the same sender', async () => {
  const authenticator = newAuthenticator()
  const results = new Set<string>()
  // Each change comes back once, so that what was kept of a zone meets the next one.
  for (const zone of [...zones, ...zones.toReversed()])
    for (let repeated = 0; repeated < 2; repeated++)
      for (const input of inputs) {
        for (const name of Object.keys(dns.zone)) delete dns.zone[name]
        Object.assign(dns.zone, zone)
        const verdicts = await authenticator.authenticate({ ...message, ...input })
        expect(verdicts).toEqual(await newAuthenticator().authenticate({ ...message, ...input }))
        results.add(`${verdicts.spf.result} ${verdicts.dmarc.result}`)
      }
  expect(results.size).toBeGreaterThan(7)
}, 60_000)

test('a check is evaluated once for the same input and answers, and what met a failure again', async () => {
  const check = newRepeatedCheck<string>()
  let evaluations = 0
  let answer: string | Error = 'one'
  const resolve = async (): Promise<string[][]> => {
    if (answer instanceof Error) throw answer
    return [[answer]]
  }
  const run = (input: string) =>
    check([input], resolve, async asked => {
      evaluations++
      const [records] = (await asked('a.example', 'TXT').catch(() => [['failed']])) as string[][]
      return `${input} ${records?.[0]}`
    })
  const evaluationsOf = async (input: string, expected: string) => {
    const before = evaluations
    expect(await run(input)).toBe(expected)
    return evaluations - before
  }
  expect(await evaluationsOf('x', 'x one')).toBe(1)
  expect(await evaluationsOf('x', 'x one')).toBe(0)
  expect(await evaluationsOf('y', 'y one')).toBe(1)
  answer = 'two'
  expect(await evaluationsOf('x', 'x two')).toBe(1)
  expect(await evaluationsOf('x', 'x two')).toBe(0)
  answer = Object.assign(new Error('timeout'), { code: 'ESERVFAIL' })
  expect(await evaluationsOf('x', 'x failed')).toBe(1)
  expect(await evaluationsOf('x', 'x failed')).toBe(1)
  answer = Object.assign(new Error('nothing'), { code: 'ENOTFOUND' })
  expect(await evaluationsOf('x', 'x failed')).toBe(1)
  expect(await evaluationsOf('x', 'x failed')).toBe(0)
})
