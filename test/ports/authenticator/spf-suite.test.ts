import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { mailauthResolver } from '../../../src/ports/authenticator/mailauth/resolver.ts'
import { checkSpf } from '../../../src/ports/authenticator/mailauth/spf.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { type DnsNode, type DnsZoneFile, startDns } from '../../harness/dns.ts'

type Entry = 'TIMEOUT' | Readonly<Record<string, string | readonly unknown[]>>

interface Scenario {
  readonly description: string
  readonly tests: Readonly<
    Record<
      string,
      {
        readonly helo: string
        readonly host: string
        readonly mailfrom: string
        readonly result: string | readonly string[]
      }
    >
  >
  readonly zonedata: Readonly<Record<string, readonly Entry[]>>
}

const file = new URL('../../fixtures/spf/rfc7208-tests.yml', import.meta.url)
const scenarios = parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS() as Scenario)

/** The zone of a scenario. Records of type SPF are TXT too, unless the name has TXT of its own; TIMEOUT is a server that does not answer. */
function zoneOf(scenario: Scenario): DnsZoneFile {
  const names = Object.entries(scenario.zonedata).map(([name, entries]) => [name.toLowerCase(), nameOf(entries)])
  return Object.fromEntries(names)
}

function nameOf(entries: readonly Entry[]): DnsNode {
  const records = entries.filter(entry => entry !== 'TIMEOUT')
  const of = (type: string) => records.flatMap(record => (type in record ? [record[type]] : []))
  const texts = (of('TXT').length > 0 ? of('TXT') : of('SPF')).filter(value => value !== 'NONE')
  const text = (value: unknown): readonly Buffer[] =>
    (Array.isArray(value) ? value : [value]).map(string => Buffer.from(String(string), 'latin1'))
  const present = ['TXT', 'A', 'AAAA', 'MX', 'PTR'].filter(type => of(type).some(value => value !== 'NONE'))
  const cname = of('CNAME')[0]
  return {
    ...(texts.length > 0 ? { TXT: texts.map(text) } : {}),
    A: of('A').map(String),
    AAAA: of('AAAA').map(String),
    PTR: of('PTR').map(String),
    MX: of('MX').map(value => (value as readonly unknown[]).join(' ')),
    ...(cname === undefined ? {} : { CNAME: String(cname) }),
    ttl: 60,
    ...(entries.includes('TIMEOUT') ? { behaviour: { answersOnly: present } } : {}),
  }
}

const nothing = { kind: 'memory', bytes: Buffer.alloc(0), size: 0 } as const

const dns = await startDns()
afterAll(() => dns.close())

const all = scenarios.flatMap(scenario => Object.keys(scenario.tests).map(name => ({ scenario, name })))

test('the suite has all its 203 tests', () => expect(all.length).toBe(203))

for (const scenario of scenarios)
  test(`RFC 7208 suite: ${scenario.description}`, async () => {
    for (const name of Object.keys(dns.zone)) delete dns.zone[name]
    Object.assign(dns.zone, zoneOf(scenario))
    const resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 200 })
    const resolve = mailauthResolver(resolver, AbortSignal.timeout(5000))
    const failures = await Promise.all(
      Object.entries(scenario.tests).map(async ([name, { helo, host, mailfrom, result }]) => {
        const input = { content: nothing, remoteIp: host, helo, mailFrom: mailfrom }
        const checked = await checkSpf(input, 'mx.example.org', resolve)
        return [result].flat().includes(checked.result) ? null : { name, ...checked, expected: result }
      }),
    )
    expect(failures.filter(failure => failure !== null)).toEqual([])
  })
