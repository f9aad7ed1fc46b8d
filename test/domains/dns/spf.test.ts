import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { checkRecord } from '../../../src/domains/dns/check-record.ts'
import { type ExpectedRecord, senderRecords } from '../../../src/domains/dns/records.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import type { Resolver } from '../../../src/ports/resolver/port.ts'
import { startDns, type TestDns } from '../../harness/dns.ts'

const hostname = 'MX.Mailroom.example'
const [relay, host] = ['spf.relay.example', hostname.toLowerCase()]

let dns: TestDns
let resolver: Resolver

beforeAll(async () => {
  dns = await startDns({
    [host]: { A: ['192.0.2.25'], AAAA: ['2001:db8::25'] },
    [relay]: { TXT: ['v=spf1 ip4:198.51.100.0/24 include:more.relay.example -all'] },
    'more.relay.example': { TXT: ['v=spf1 ip4:203.0.113.0/24 -all'] },
    'customer.example': { TXT: ['some text', `v=spf1 ip4:192.0.2.1 include:${relay} -all`] },
    'host.example': { TXT: [`v=spf1 a:${host} -all`] },
    'neutral.example': { TXT: [`v=spf1 ?include:${relay} ?a:${host} -all`] },
    'denying.example': { TXT: ['v=spf1 -all'] },
    'open.example': { TXT: ['v=spf1 +all'] },
    'several.example': { TXT: [`v=spf1 include:${relay} a:${host} -all`, 'v=spf1 -all'] },
    'circle.example': { TXT: ['v=spf1 include:circle.example -all'] },
    'wrong.example': { TXT: ['v=spf1 ipv4:192.0.2.1 -all'] },
    'textless.example': { A: ['192.0.2.1'] },
    'web.example': { A: ['192.0.2.80'] },
    'mx-only.example': { MX: [`10 ${host}`] },
    'dark.example': { behaviour: { rcode: 'SERVFAIL' } },
    '_spf.macro.test': { TXT: [`v=spf1 include:${relay} a:${host} -all`] },
  })
  resolver = networkResolver({ servers: [dns.endpoint], timeoutMs: 300 })
})
afterAll(() => dns.close())

/** The SPF record that we ask for at `test`'s name; with an include, or without one. */
function expected(name: string, spfInclude: string | undefined): ExpectedRecord {
  const record = senderRecords(name, { hostname, spfInclude }).find(({ purpose }) => purpose === 'spf')
  if (!record) throw new Error('no SPF record')
  return record
}

/** The check of these TXT records at a name of their own. */
async function check(spfInclude: string | undefined, ...values: readonly string[]) {
  const name = `d${Object.keys(dns.zone).length}.test`
  dns.zone[name] = { TXT: values, A: ['192.0.2.99'], MX: [`10 ${host}`] }
  return checkRecord(resolver, expected(name, spfInclude))
}

describe('with MAILROOM_SPF_INCLUDE', () => {
  test.each([
    ['as we ask for it', [`v=spf1 include:${relay} ~all`]],
    ['among other texts', ['site=1', `v=spf1 include:${relay} -all`, 'v=spf10 -all']],
    ['in other letters, with other sources', [`V=SPF1 mx  +INCLUDE:SPF.Relay.example. ip4:192.0.2.1 -ALL`]],
    ['after other sources', [`v=spf1 a mx ip4:192.0.2.1 ip6:2001:db8::/32 include:${relay} -all`]],
    ['in an include', ['v=spf1 include:customer.example ~all']],
    ['by a redirect', ['v=spf1 redirect=customer.example']],
    ['by a redirect to it', [`v=spf1 redirect=${relay}`]],
    // %{d1} is the last label of the domain: test.
    ['in an include with a macro', ['v=spf1 include:_spf.macro.%{d1} -all']],
    ['after a macro that finds nothing', [`v=spf1 exists:%{ir}.%{v}._spf.%{d} include:${relay} -all`]],
    ['before a look-up that fails', [`v=spf1 include:${relay} include:dark.example -all`]],
    ['with an explanation and an unknown modifier', [`v=spf1 include:${relay} -all exp=why.example later=1`]],
  ])('covered: %s', async (_, values) => {
    expect(await check(relay, ...values)).toMatchObject({ status: 'verified' })
  })

  test.each([
    ['nothing is listed', ['v=spf1 -all'], `It is missing include:${relay}.`],
    ['others are listed', ['v=spf1 mx a ip4:192.0.2.0/24 ~all'], `It is missing include:${relay}.`],
    ['only our host is listed', [`v=spf1 a:${host} ~all`], `It is missing include:${relay}.`],
    ['another name is included', [`v=spf1 include:${relay}.evil.example ~all`], 'permanent error'],
    ['it is denied', [`v=spf1 -include:${relay} ~all`], `It is missing include:${relay}.`],
    ['it is neutral', [`v=spf1 ?include:${relay} ~all`], `It is missing include:${relay}.`],
    ['it is neutral in what is included', ['v=spf1 include:neutral.example ~all'], `It is missing include:${relay}.`],
    ['it comes after all', [`v=spf1 -all include:${relay}`], `It is missing include:${relay}.`],
    ['a redirect comes with all', ['v=spf1 ~all redirect=customer.example'], `It is missing include:${relay}.`],
    ['a redirect leads to a denial', ['v=spf1 redirect=denying.example'], `It is missing include:${relay}.`],
    ['it is in an included denial', ['v=spf1 include:denying.example -all'], `It is missing include:${relay}.`],
    ['the text only looks like it', [`v=spf1 exp=include:${relay} -all`], `It is missing include:${relay}.`],
    ['everyone is allowed', [`v=spf1 include:${relay} +all`], 'It allows everyone to send (+all)'],
    ['everyone is allowed without a sign', ['v=spf1 ALL'], 'It allows everyone to send (+all)'],
    ['an include allows everyone', [`v=spf1 include:${relay} include:open.example -all`], 'It allows everyone'],
    ['every address is listed', [`v=spf1 include:${relay} ip4:0.0.0.0/0 -all`], 'It allows everyone'],
    ['there are several', [`v=spf1 include:${relay} ~all`, 'v=spf1 -all'], 'There are 2 SPF records at this name'],
    ['an include before it has several', [`v=spf1 include:several.example include:${relay} -all`], 'permanent error'],
    ['an include before it has none', [`v=spf1 include:textless.example include:${relay} -all`], 'permanent error'],
    [
      'an include before it does not exist',
      [`v=spf1 include:nowhere.example include:${relay} -all`],
      'permanent error',
    ],
    ['includes go in a circle', [`v=spf1 include:${relay} include:circle.example -all`], 'more than 10 DNS look-ups'],
    ['an unknown mechanism', [`v=spf1 include:${relay} ipv4:192.0.2.1 -all`], 'permanent error'],
    ['a wrong address', [`v=spf1 include:${relay} ip4:192.0.2.256 -all`], 'permanent error'],
    ['a redirect given twice', [`v=spf1 include:${relay} redirect=a.example redirect=b.example`], 'permanent error'],
    ['a syntax error in an include', [`v=spf1 include:wrong.example include:${relay} -all`], 'permanent error'],
    [
      'look-ups before it find nothing',
      [`v=spf1 a:no1.example a:no2.example a:no3.example include:${relay} -all`],
      'More than 2 of its DNS look-ups find nothing',
    ],
    ['eleven look-ups', [`v=spf1 include:${relay} ${'a:web.example '.repeat(9)}-all`], 'more than 10 DNS look-ups'],
  ])('not covered: %s', async (_, values, words) => {
    const { status, found, detail } = await check(relay, ...values)
    expect([status, found, detail]).toEqual(['mismatch', values, expect.stringContaining(words)])
  })

  test('ten look-ups are not too many: one for the relay, one that it needs itself, and eight others', async () => {
    const values = [`v=spf1 include:${relay} ${'a:web.example '.repeat(8)}-all`]
    expect(await check(relay, ...values)).toMatchObject({ status: 'verified' })
  })

  test.each([
    ['several.example', 'multiple SPF records'],
    ['textless.example', 'no SPF records'],
    ['nowhere.example', 'no SPF records'],
  ])('an error that comes after what our mail matches does no harm, and is told: include:%s', async (name, words) => {
    const { status, detail } = await check(relay, `v=spf1 include:${relay} include:${name} -all`)
    expect([status, detail]).toEqual(['verified', expect.stringContaining(words)])
  })

  test.each([
    ['the include that may list it', ['v=spf1 include:dark.example -all']],
    ['what comes before it', [`v=spf1 a:dark.example include:${relay} -all`]],
    ['the redirect', ['v=spf1 redirect=dark.example']],
  ])('unknown, never wrong: a failed look-up of %s', async (_, values) => {
    expect(await check(relay, ...values)).toMatchObject({ status: 'unknown', found: values })
  })

  test('a relay whose own record does not exist, or cannot be looked up, is not the fault of the domain', async () => {
    for (const name of ['spf.absent.example', 'dark.example'])
      expect(await check(name, `v=spf1 include:${name} ~all`)).toMatchObject({ status: 'verified' })
  })

  test('a domain whose own record is the one to include covers it', async () => {
    expect(await checkRecord(resolver, expected(relay, relay))).toMatchObject({ status: 'verified' })
  })
})

describe('without MAILROOM_SPF_INCLUDE our host name is what counts', () => {
  test.each([
    ['by name, as we ask for it', [`v=spf1 a:${host} ~all`]],
    ['by name among others', [`v=spf1 ip4:198.51.100.1 A:${hostname}. -all`]],
    ['as the MX host of the domain', ['v=spf1 mx -all']],
    ['as the MX host of another name', ['v=spf1 mx:mx-only.example -all']],
    ['in an include', ['v=spf1 include:host.example -all']],
    ['by a redirect', ['v=spf1 redirect=host.example']],
    ['by its addresses', ['v=spf1 ip4:192.0.2.25 ip6:2001:db8::25 -all']],
    ['by its networks', ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all']],
  ])('covered: %s', async (_, values) => {
    expect(await check(undefined, ...values)).toMatchObject({ status: 'verified' })
  })

  test.each([
    ['nothing is listed', ['v=spf1 -all'], `It is missing a:${host}`],
    ['nothing is listed, softly', ['v=spf1 ~all'], `It is missing a:${host}`],
    ['an empty record', ['v=spf1'], `It is missing a:${host}`],
    ['others are listed', [`v=spf1 a include:${relay} -all`], `It is missing a:${host}`],
    ['only one of its addresses is listed', ['v=spf1 ip4:192.0.2.25 -all'], 'it does not list 2001:db8::25'],
    ['its address is denied before', [`v=spf1 -ip4:192.0.2.25 ip6:2001:db8::25 -all`], 'it does not list 192.0.2.25'],
    ['it is denied', [`v=spf1 -a:${host} ~all`], `It is missing a:${host}`],
    ['it comes after all', [`v=spf1 ~all a:${host}`], `It is missing a:${host}`],
    ['everyone is allowed', ['v=spf1 +all'], 'It allows everyone'],
    ['there are several', [`v=spf1 a:${host} ~all`, `v=spf1 a:${host} ~all`], 'There are 2 SPF records'],
  ])('not covered: %s', async (_, values, words) => {
    const { status, found, detail } = await check(undefined, ...values)
    expect([status, found, detail]).toEqual(['mismatch', values, expect.stringContaining(words)])
  })

  test('the record that we ask for is right also while our host name has no address', async () => {
    const { [host]: before } = dns.zone
    delete dns.zone[host]
    const uncached = networkResolver({ servers: [dns.endpoint], timeoutMs: 300 })
    const name = 'addressless.test'
    try {
      for (const [value, status] of [
        [`v=spf1 a:${host} ~all`, 'verified'],
        ['v=spf1 ip4:192.0.2.25 ip6:2001:db8::25 -all', 'mismatch'],
      ] as const) {
        dns.zone[name] = { TXT: [value] }
        expect(await checkRecord(uncached, expected(name, undefined))).toMatchObject({ status })
      }
      dns.zone[host] = { behaviour: { rcode: 'SERVFAIL' } }
      const again = networkResolver({ servers: [dns.endpoint], timeoutMs: 300 })
      expect(await checkRecord(again, expected(name, undefined))).toMatchObject({ status: 'unknown' })
    } finally {
      dns.zone[host] = before ?? {}
    }
  })
})

test('the SPF record of a return path is held to the same', async () => {
  const [mx, spf] = senderRecords('paths.test', { hostname, spfInclude: relay, returnPath: 'ours' }).filter(
    record => record.purpose === 'return_path',
  )
  if (mx?.type !== 'MX' || !spf) throw new Error('no records')
  for (const [value, status] of [
    [`v=spf1 include:${relay} ~all`, 'verified'],
    ['v=spf1 redirect=customer.example', 'verified'],
    ['v=spf1 -all', 'mismatch'],
  ] as const) {
    dns.zone[spf.name] = { TXT: [value] }
    expect(await checkRecord(resolver, spf)).toMatchObject({ status })
  }
})
