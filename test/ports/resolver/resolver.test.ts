import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { Resolver as SystemResolver } from 'node:dns/promises'
import { systemClock } from '../../../src/base/clock.ts'
import { newId } from '../../../src/base/ids.ts'
import { localResolver } from '../../../src/ports/resolver/local/local.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
import { systemServers } from '../../../src/ports/resolver/network/system-servers.ts'
import type { Resolver } from '../../../src/ports/resolver/port.ts'
import { freshDatabase } from '../../harness/database.ts'
import { startDns, type TestDns } from '../../harness/dns.ts'

const name = 'example.test'
let dns: TestDns
let now: number
let resolver: Resolver

const ask = (servers: readonly TestDns[], timeoutMs = 200): Resolver =>
  networkResolver({ servers: servers.map(server => server.endpoint), timeoutMs, nowMs: () => now })

beforeEach(async () => {
  now = 1000
  dns = await startDns()
  resolver = ask([dns])
})
afterEach(() => dns.close())

describe('an answer', () => {
  test('joins the strings of one TXT record, and separates two records', async () => {
    dns.zone[name] = { TXT: [['v=DKIM1; p=', 'a'.repeat(255), 'b'], 'other'] }
    const answer = await resolver.resolve(name, 'TXT')
    expect(answer).toEqual({ kind: 'found', records: [`v=DKIM1; p=${'a'.repeat(255)}b`, 'other'], ttlSeconds: 300 })
  })

  test('node:dns on Bun splits the strings of one TXT record (oven-sh/bun#21370), so dns-packet is needed', async () => {
    dns.zone[name] = { TXT: [['v=DKIM1; ', 'p=abc']] }
    const system = new SystemResolver()
    system.setServers([`127.0.0.1:${dns.endpoint.port}`])
    // Once this gives [['v=DKIM1; ', 'p=abc']], the bug is gone.
    expect(await system.resolveTxt(name)).toEqual([['v=DKIM1; '], ['p=abc']])
  })

  test('has the form of its record type, with names in lower case and without the final dot', async () => {
    dns.zone[name] = {
      MX: ['10 MX.Example.test', '0 .'],
      A: ['192.0.2.1'],
      AAAA: ['2001:db8::1'],
      PTR: ['Host.Example.test'],
      TLSA: ['3 1 1 abcd'],
    }
    const found = async (type: 'MX' | 'A' | 'AAAA' | 'PTR' | 'TLSA') => {
      const answer = await resolver.resolve('EXAMPLE.test.', type)
      return answer.kind === 'found' ? answer.records : answer
    }
    expect(await found('MX')).toEqual([
      { priority: 10, exchange: 'mx.example.test' },
      { priority: 0, exchange: '' },
    ])
    expect(await found('A')).toEqual(['192.0.2.1'])
    expect(await found('AAAA')).toEqual(['2001:db8::1'])
    expect(await found('PTR')).toEqual(['host.example.test'])
    const certificate = Buffer.from('abcd', 'hex')
    expect(await found('TLSA')).toEqual([{ usage: 3, selector: 1, matchingType: 1, certificate }])
  })

  test('tells a name that does not exist from one without such a record', async () => {
    dns.zone[`below.${name}`] = { A: ['192.0.2.1'] }
    expect(await resolver.resolve(name, 'TXT')).toEqual({ kind: 'none', why: 'nodata' })
    expect(await resolver.resolve('absent.test', 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
  })

  test('for a name that cannot exist takes no query', async () => {
    for (const impossible of ['', 'a..test', `${'a'.repeat(64)}.test`, `${'a.'.repeat(127)}test`, 'a\nb.test'])
      expect(await resolver.resolve(impossible, 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
    expect(dns.questions).toEqual([])
  })
})

describe('CNAMEs', () => {
  test('are followed within a response and across responses', async () => {
    dns.zone[`a.${name}`] = { CNAME: `b.${name}`, ttl: 100 }
    dns.zone[`b.${name}`] = { CNAME: `c.${name}`, ttl: 50, behaviour: { cnameAlone: true } }
    dns.zone[`c.${name}`] = { TXT: ['here'], ttl: 200 }
    expect(await resolver.resolve(`a.${name}`, 'TXT')).toEqual({ kind: 'found', records: ['here'], ttlSeconds: 50 })
    expect(dns.questions.map(question => question.name)).toEqual([`a.${name}`, `c.${name}`])
    expect(await resolver.resolve(`a.${name}`, 'CNAME')).toMatchObject({ kind: 'found', records: [`b.${name}`] })
  })

  test('to a name that does not exist are an absence', async () => {
    dns.zone[name] = { CNAME: 'absent.test' }
    expect(await resolver.resolve(name, 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
  })

  test('that loop fail, within a response and across responses', async () => {
    dns.zone['a.test'] = { CNAME: 'b.test' }
    dns.zone['b.test'] = { CNAME: 'a.test' }
    dns.zone['c.test'] = { CNAME: 'd.test', behaviour: { cnameAlone: true } }
    dns.zone['d.test'] = { CNAME: 'c.test', behaviour: { cnameAlone: true } }
    for (const start of ['a.test', 'c.test'])
      expect(await resolver.resolve(start, 'TXT')).toMatchObject({
        kind: 'failed',
        why: expect.stringContaining('loop'),
      })
  })

  test('are followed eight times, not nine', async () => {
    for (let i = 0; i < 9; i++) dns.zone[`n${i}.test`] = { CNAME: `n${i + 1}.test`, behaviour: { cnameAlone: true } }
    dns.zone['n9.test'] = { TXT: ['end'] }
    expect(await resolver.resolve('n1.test', 'TXT')).toMatchObject({ kind: 'found' })
    expect(await resolver.resolve('n0.test', 'TXT')).toMatchObject({ kind: 'failed' })
  })
})

describe('the cache', () => {
  const found = { kind: 'found', records: ['one'] }

  test('holds an answer for its TTL, and returns the remaining TTL', async () => {
    dns.zone[name] = { TXT: ['one'], ttl: 60 }
    await resolver.resolve(name, 'TXT')
    now += 20_000
    expect(await resolver.resolve(name, 'TXT')).toEqual({ kind: 'found', records: ['one'], ttlSeconds: 40 })
    expect(dns.questions.length).toBe(1)
    now += 40_000
    await resolver.resolve(name, 'TXT')
    expect(dns.questions.length).toBe(2)
  })

  test('holds an answer with a TTL of a day for an hour, and one with a TTL of zero not at all', async () => {
    dns.zone[name] = { TXT: ['one'], ttl: 86_400 }
    dns.zone['zero.test'] = { TXT: ['one'], ttl: 0 }
    await resolver.resolve(name, 'TXT')
    now += 3_600_000
    await resolver.resolve(name, 'TXT')
    await resolver.resolve('zero.test', 'TXT')
    await resolver.resolve('zero.test', 'TXT')
    expect([dns.questionCount(name), dns.questionCount('zero.test')]).toEqual([2, 2])
  })

  test('holds an absence for the minimum of the SOA, at most five minutes', async () => {
    await resolver.resolve(name, 'TXT')
    now += 59_000
    await resolver.resolve(name, 'TXT')
    expect(dns.questions.length).toBe(1)
    now += 1000
    dns.zone[name] = { TXT: ['one'] }
    expect(await resolver.resolve(name, 'TXT')).toMatchObject(found)

    const slow = await startDns({}, { soaMinimum: 86_400 })
    const patient = ask([slow])
    await patient.resolve(name, 'TXT')
    now += 300_000
    await patient.resolve(name, 'TXT')
    expect(slow.questions.length).toBe(2)
    await slow.close()
  })

  test('holds an absence whose response does not say for how long for five seconds', async () => {
    const terse = await startDns({ 'sub.exists.test': { TXT: ['one'] } }, { omitsSoa: true })
    const asking = ask([terse])
    for (const [absent, why] of [
      ['absent.test', 'nxdomain'],
      ['exists.test', 'nodata'],
    ] as const) {
      expect(await asking.resolve(absent, 'TXT')).toEqual({ kind: 'none', why })
      now += 4999
      expect(await asking.resolve(absent, 'TXT')).toEqual({ kind: 'none', why })
      expect(terse.questionCount(absent)).toBe(1)
      now += 1
      await asking.resolve(absent, 'TXT')
      expect(terse.questionCount(absent)).toBe(2)
    }
    await terse.close()
  })

  test('never holds a failure', async () => {
    dns.zone[name] = { behaviour: { rcode: 'SERVFAIL' } }
    expect(await resolver.resolve(name, 'TXT')).toMatchObject({ kind: 'failed' })
    dns.zone[name] = { TXT: ['one'] }
    expect(await resolver.resolve(name, 'TXT')).toMatchObject(found)
  })

  test('keeps its limits of entries and bytes', async () => {
    const small = networkResolver({
      servers: [dns.endpoint],
      timeoutMs: 200,
      cache: { maxEntries: 2, maxBytes: 1000 },
    })
    for (const value of ['a.test', 'b.test', 'c.test']) dns.zone[value] = { TXT: ['one'] }
    dns.zone['big.test'] = { TXT: ['x'.repeat(1500)] }
    for (const value of ['a.test', 'b.test', 'a.test', 'c.test', 'a.test', 'b.test', 'big.test', 'big.test'])
      await small.resolve(value, 'TXT')
    expect([dns.questionCount('a.test'), dns.questionCount('b.test'), dns.questionCount('c.test')]).toEqual([1, 2, 1])
    expect(dns.questions.filter(question => question.name === 'big.test' && question.over === 'udp').length).toBe(2)
  })

  test('and lookups in flight make one query for many callers', async () => {
    dns.zone[name] = { TXT: ['one'], behaviour: { delayMs: 20 } }
    const answers = await Promise.all(Array.from({ length: 20 }, () => resolver.resolve(name, 'TXT')))
    expect(dns.questions.length).toBe(1)
    for (const answer of answers) expect(answer).toMatchObject(found)
  })
})

describe('spoofed responses', () => {
  const lie = { TXT: ['forged'] }

  test('with another id, question or source are ignored', async () => {
    for (const kind of ['wrong-id', 'wrong-question', 'wrong-source'] as const) {
      dns.zone[`${kind}.test`] = { TXT: ['true'], behaviour: { forgeries: [kind], forgedRecords: lie, delayMs: 5 } }
      expect(await resolver.resolve(`${kind}.test`, 'TXT')).toMatchObject({ kind: 'found', records: ['true'] })
    }
  })

  test('that keep coming make the query go over TCP', async () => {
    dns.zone[name] = {
      TXT: ['true'],
      behaviour: { forgeries: ['wrong-id', 'wrong-id', 'wrong-id', 'wrong-id'], forgedRecords: lie },
    }
    expect(await resolver.resolve(name, 'TXT')).toMatchObject({ records: ['true'] })
    expect(dns.questions.map(question => question.over)).toEqual(['udp', 'tcp'])
  })

  test('are hard to make: each query has a random id and port, and allows at most 1232 bytes', async () => {
    for (let i = 0; i < 20; i++) await resolver.resolve(`n${i}.test`, 'A')
    expect(new Set(dns.questions.map(question => question.id)).size).toBeGreaterThan(17)
    expect(new Set(dns.questions.map(question => question.fromPort)).size).toBeGreaterThan(15)
    for (const question of dns.questions)
      expect(question).toMatchObject({ udpPayloadSize: 1232, recursionDesired: true })
  })
})

describe('a failure', () => {
  test('is what a server gives to which there is no route, and the next server is asked', async () => {
    // The kernel lets no socket without SO_BROADCAST connect there, as without a network it lets none connect anywhere.
    const unreachable = { host: '255.255.255.255', port: 53 }
    const only = networkResolver({ servers: [unreachable], timeoutMs: 200, nowMs: () => now })
    expect(await only.resolve(name, 'TXT')).toMatchObject({ kind: 'failed' })
    // Longer than until a query is sent again.
    await Bun.sleep(150)
    dns.zone[name] = { TXT: ['here'] }
    const both = networkResolver({ servers: [unreachable, dns.endpoint], timeoutMs: 200, nowMs: () => now })
    expect(await both.resolve(name, 'TXT')).toMatchObject({ kind: 'found', records: ['here'] })
  })

  test('is not a truncated response: the query is repeated over TCP', async () => {
    dns.zone[name] = { TXT: ['short'], behaviour: { truncated: true } }
    dns.zone['long.test'] = { TXT: ['x'.repeat(3000)] }
    expect(await resolver.resolve(name, 'TXT')).toMatchObject({ records: ['short'] })
    expect(await resolver.resolve('long.test', 'TXT')).toMatchObject({ records: ['x'.repeat(3000)] })
    expect(dns.questions.map(question => question.over)).toEqual(['udp', 'tcp', 'udp', 'tcp'])
  })

  test('of one server leads to the next one, and the server that answered is tried first from then on', async () => {
    const other = await startDns({ [name]: { TXT: ['one'], ttl: 0 } })
    const gone = await startDns()
    await gone.close()
    dns.zone[name] = { behaviour: { silent: true } }
    const two = ask([dns, other], 60)
    expect(await two.resolve(name, 'TXT')).toMatchObject({ kind: 'found' })
    const askedBefore = dns.questions.length
    expect(await two.resolve(name, 'TXT')).toMatchObject({ kind: 'found' })
    expect(dns.questions.length).toBe(askedBefore)
    for (const rcode of ['SERVFAIL', 'REFUSED', 'FORMERR'] as const) {
      dns.zone[name] = { behaviour: { rcode } }
      expect(await ask([dns, other]).resolve(name, 'TXT')).toMatchObject({ kind: 'found' })
    }
    expect(await ask([gone, other], 2000).resolve(name, 'TXT')).toMatchObject({ kind: 'found' })
    await other.close()
  })

  test('is what comes when no server answers, within the timeout of each', async () => {
    const other = await startDns({ [name]: { behaviour: { rcode: 'REFUSED' } } })
    dns.zone[name] = { behaviour: { silent: true } }
    const started = performance.now()
    const answer = await ask([dns, other], 100).resolve(name, 'TXT')
    expect(answer).toEqual({ kind: 'failed', why: '127.0.0.1: REFUSED' })
    expect(performance.now() - started).toBeLessThan(1000)
    expect(dns.questions.length).toBe(2)
    await other.close()
  })

  test('is not a lost packet: it is sent again', async () => {
    dns.zone[name] = { behaviour: { successive: [{ behaviour: { silent: true } }, { TXT: ['one'] }] } }
    expect(await resolver.resolve(name, 'TXT')).toMatchObject({ kind: 'found' })
  })

  test('is what an unreadable response is', async () => {
    dns.zone[name] = { behaviour: { garbage: Buffer.from('nonsense') } }
    expect(await ask([dns], 60).resolve(name, 'TXT')).toMatchObject({ kind: 'failed' })
  })

  test('comes when the signal fires, and at once when it has fired before', async () => {
    dns.zone[name] = { behaviour: { silent: true } }
    const slow = ask([dns], 2000)
    const started = performance.now()
    const answer = await slow.resolve(name, 'TXT', { signal: AbortSignal.timeout(30) })
    expect(answer).toMatchObject({ kind: 'failed' })
    expect(performance.now() - started).toBeLessThan(1000)
    expect(await slow.resolve('other.test', 'TXT', { signal: AbortSignal.abort() })).toMatchObject({ kind: 'failed' })
    expect(dns.questionCount('other.test')).toBe(0)
  })
})

describe('a lookup for proof', () => {
  test('goes over TCP, twice, without the cache, and caches nothing', async () => {
    dns.zone[name] = { TXT: ['old'] }
    await resolver.resolve(name, 'TXT')
    dns.zone[name] = { TXT: ['one', 'two'] }
    dns.questions.length = 0
    const proof = { kind: 'found', records: ['one', 'two'], ttlSeconds: 300 } as const
    expect(await resolver.resolve(name, 'TXT', { forProof: true })).toEqual(proof)
    expect(dns.questions.map(question => question.over)).toEqual(['tcp', 'tcp'])
    expect(await resolver.resolve(name, 'TXT')).toMatchObject({ records: ['old'] })
  })

  test('accepts the same records in another order, but not other records', async () => {
    dns.zone[name] = { behaviour: { successive: [{ TXT: ['one', 'two'] }, { TXT: ['two', 'one'] }] } }
    dns.zone['b.test'] = { behaviour: { successive: [{ TXT: ['one'] }, { TXT: ['one', 'two'] }] } }
    dns.zone['c.test'] = { behaviour: { successive: [{ TXT: ['one'] }, {}] } }
    expect(await resolver.resolve(name, 'TXT', { forProof: true })).toMatchObject({ kind: 'found' })
    for (const value of ['b.test', 'c.test'])
      expect(await resolver.resolve(value, 'TXT', { forProof: true })).toMatchObject({ kind: 'failed' })
    expect(await resolver.resolve('absent.test', 'TXT', { forProof: true })).toEqual({ kind: 'none', why: 'nxdomain' })
  })

  test('fails when a server answers over UDP alone', async () => {
    dns.zone[name] = { TXT: ['one'], behaviour: { silentOver: 'tcp' } }
    expect(await ask([dns], 60).resolve(name, 'TXT', { forProof: true })).toMatchObject({ kind: 'failed' })
  })
})

test('reads the name servers of the system', async () => {
  const file = `${process.env['TMPDIR'] ?? '/tmp'}/resolv-${process.pid}.conf`
  await Bun.write(
    file,
    '# no\nsearch example.test\nnameserver 192.0.2.53\nnameserver\t2001:db8::53\nnameserver nonsense\n',
  )
  expect(systemServers(file)).toEqual([
    { host: '192.0.2.53', port: 53 },
    { host: '2001:db8::53', port: 53 },
  ])
  await Bun.file(file).delete()
  expect(systemServers(file)).toEqual([{ host: '127.0.0.1', port: 53 }])
})

describe('names below .test', async () => {
  const database = await freshDatabase()
  afterAll(() => database.close())
  const put = (type: string, of: string, value: string, priority: number | null = null) =>
    database.db
      .insertInto('local_records')
      .values({ id: newId('rec'), type, name: of, value, priority, ttl: 60, created_at: systemClock.now() })
      .execute()

  test('are answered from the database, others from DNS', async () => {
    const local = localResolver(database.db, resolver)
    await put('TXT', 'demo.test', 'v=spf1 -all')
    await put('MX', 'demo.test', 'MX.demo.test.', 10)
    await put('CNAME', 'www.demo.test', 'alias.demo.test')
    await put('CNAME', 'alias.demo.test', 'demo.test')
    await put('CNAME', 'out.demo.test', 'far.example')
    await put('CNAME', 'round.demo.test', 'round.demo.test')
    await put('TXT', 'a.deep_.demo.test', 'x')
    dns.zone['far.example'] = { TXT: ['far'] }

    const txt = { kind: 'found', records: ['v=spf1 -all'], ttlSeconds: 60 } as const
    expect(await local.resolve('Demo.test.', 'TXT')).toEqual(txt)
    expect(await local.resolve('www.demo.test', 'TXT', { forProof: true })).toEqual(txt)
    expect(await local.resolve('demo.test', 'MX')).toMatchObject({
      records: [{ priority: 10, exchange: 'mx.demo.test' }],
    })
    expect(await local.resolve('www.demo.test', 'CNAME')).toMatchObject({ records: ['alias.demo.test'] })
    expect(await local.resolve('out.demo.test', 'TXT')).toMatchObject({ records: ['far'] })
    expect(await local.resolve('round.demo.test', 'TXT')).toMatchObject({ kind: 'failed' })
    expect(await local.resolve('demo.test', 'AAAA')).toEqual({ kind: 'none', why: 'nodata' })
    expect(await local.resolve('deep_.demo.test', 'TXT')).toEqual({ kind: 'none', why: 'nodata' })
    expect(await local.resolve('test', 'TXT')).toEqual({ kind: 'none', why: 'nodata' })
    expect(await local.resolve('deepx.demo.test', 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
    expect(await local.resolve('de_p_.demo.test', 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
    expect(await local.resolve('emo.test', 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
    expect(await local.resolve('dömo.test', 'TXT')).toEqual({ kind: 'none', why: 'nxdomain' })
    expect(await local.resolve('far.example', 'TXT')).toMatchObject({ records: ['far'] })
    expect(dns.questions.every(question => question.name === 'far.example')).toBe(true)
  })
})
