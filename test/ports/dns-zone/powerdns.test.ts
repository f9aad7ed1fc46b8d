import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { plusMs, systemClock } from '../../../src/base/clock.ts'
import {
  type DnsProvider,
  DnsZoneError,
  type ExistingRecord,
  type Zone,
  type ZoneRecord,
} from '../../../src/ports/dns-zone/port.ts'
import type { RrSet } from '../../../src/ports/dns-zone/powerdns/api.ts'
import { powerDnsZones } from '../../../src/ports/dns-zone/powerdns/powerdns.ts'
import { databaseZoneLock } from '../../../src/ports/dns-zone/zone-lock.ts'
import { networkResolver } from '../../../src/ports/resolver/network.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { type PowerDns, startPowerDns } from '../../harness/powerdns.ts'
import { zoneContract } from './contract.ts'

let database: FreshDatabase
let powerDns: PowerDns
let provider: DnsProvider

beforeAll(async () => {
  ;[database, powerDns] = await Promise.all([freshDatabase(), startPowerDns()])
  for (const name of ['contract.example', 'long.contract.example']) await powerDns.addZone(name)
  provider = open()
})
afterAll(async () => {
  await powerDns.stop()
  await database.close()
})

function open(key = powerDns.key): DnsProvider {
  const turns = databaseZoneLock(database.db, systemClock)
  return powerDnsZones({ url: powerDns.url, key, clock: systemClock, zoneLock: turns })
}

zoneContract('powerdns', () => ({ provider, under: 'below.contract.example', elsewhere: 'contract.invalid' }))

const apex = 'contract.example'
const text = (name: string, value: string): ZoneRecord => ({
  type: 'TXT',
  name,
  value,
  priority: null,
  ttlSeconds: 300,
})

async function zone(of = provider): Promise<Zone> {
  const found = await of.findZone(apex)
  if (!found) throw new Error('no zone')
  return found
}

async function setsOf(name: string): Promise<readonly RrSet[]> {
  const { rrsets } = await powerDns.ask('GET', `/zones/${apex}.`)
  return rrsets.filter((rrset: RrSet) => rrset.name === `${name}.`)
}

async function made(held: Zone, record: ZoneRecord, mark: string | null = 'ours'): Promise<ExistingRecord> {
  const written = await held.create(record, mark)
  if (written.kind !== 'written') throw new Error(written.kind)
  return written.record
}

describe('the zone of a name', () => {
  test('is the nearest', async () => {
    expect((await provider.findZone('a.b.long.contract.example'))?.apex).toBe('long.contract.example')
    expect((await provider.findZone('along.contract.example'))?.apex).toBe(apex)
  })

  test('is none where the nearest one is a secondary, whose records come from elsewhere', async () => {
    await powerDns.addZone('secondary.contract.example', 'Slave')
    expect(await provider.findZone('a.secondary.contract.example')).toBeNull()
  })
})

describe('what is not ours', () => {
  test('in a set of records stays as it is: records, comments, TTL, what is disabled', async () => {
    const name = `shared.${apex}`
    const comments = [{ content: 'do not touch', account: 'jane', modified_at: 1_700_000_000 }]
    await powerDns.put(apex, name, 'TXT', ['"by" " hand"'], { ttl: 7200, comments })
    const [before] = await setsOf(name)
    const records = [...(before?.records ?? []), { content: '"off"', disabled: true }]
    await powerDns.put(apex, name, 'TXT', [], { ttl: 7200, comments, records })

    const held = await zone()
    const ours = await made(held, text(name, 'ours'))
    expect(ours.ttlSeconds).toBe(7200)
    expect((await held.recordsAt(name)).map(existingRecord => [existingRecord.value, existingRecord.mark])).toEqual([
      ['by hand', null],
      ['ours', 'ours'],
    ])
    await held.update(ours.id, text(name, 'ours still'), 'ours')
    await held.remove(ours.id)
    const [after, ...more] = await setsOf(name)
    expect(more).toEqual([])
    expect(after).toMatchObject({ ttl: 7200, comments })
    expect(after?.comments).toHaveLength(1)
    expect(new Set(after?.records)).toEqual(new Set(records))
  })

  test('is not what it was once somebody changed our record by hand', async () => {
    const name = `taken.${apex}`
    const held = await zone()
    await made(held, text(name, 'ours'))
    await powerDns.put(apex, name, 'TXT', ['"theirs"'])
    expect(await held.recordsAt(name)).toMatchObject([{ value: 'theirs', mark: null, createdAt: null }])
    await made(held, text(name, 'second'))
    expect((await setsOf(name))[0]?.comments).toHaveLength(1)
  })

  test('keeps an id of its own where it is like what we changed before', async () => {
    const name = `again.${apex}`
    const held = await zone()
    await powerDns.put(apex, name, 'TXT', ['"1"'])
    const [first] = await held.recordsAt(name)
    await held.update(first?.id ?? '', text(name, '2'), null)
    const { records = [], comments = [] } = (await setsOf(name))[0] ?? {}
    await powerDns.put(apex, name, 'TXT', [], { records: [...records, { content: '"1"', disabled: false }], comments })
    const ids = (await held.recordsUnder(apex))
      .filter(existingRecord => existingRecord.name === name)
      .map(existingRecord => existingRecord.id)
    expect(new Set(ids).size).toBe(2)
    expect(ids).toContain(first?.id ?? '')
  })

  test('of a type that we do not know is not shown, and a CNAME not put beside it', async () => {
    const name = `caa.${apex}`
    await powerDns.put(apex, name, 'CAA', ['0 issue "ca.example"'])
    const held = await zone()
    expect(await held.recordsAt(name)).toEqual([])
    const alias: ZoneRecord = { ...text(name, 'host.example'), type: 'CNAME' }
    expect(await held.create(alias, null)).toEqual({ kind: 'conflict', existing: [] })
  })
})

test('a long text is answered by DNS in one piece, however it was cut by hand', async () => {
  const resolver = networkResolver({ servers: [powerDns.endpoint], timeoutMs: 2000 })
  const ask = (name: string) => resolver.resolve(name, 'TXT', { forProof: true })
  const value = `v=DKIM1; p=${'A1b/'.repeat(300)}; n="quoted" \\ ü`
  const held = await zone()
  await made(held, text(`lengthy.${apex}`, value))
  expect(await ask(`lengthy.${apex}`)).toMatchObject({ kind: 'found', records: [value] })
  await powerDns.put(apex, `cut.${apex}`, 'TXT', ['"v=spf1 include:a" ".example -" "all"'])
  expect((await held.recordsAt(`cut.${apex}`)).map(existingRecord => existingRecord.value)).toEqual([
    'v=spf1 include:a.example -all',
  ])
  expect(await held.create(text(`cut.${apex}`, 'v=spf1 include:a.example -all'), null)).toMatchObject({
    kind: 'exists',
  })
})

test('processes that write into one set at the same time lose nothing of each other', async () => {
  const name = `busy.${apex}`
  const processes = await Promise.all([1, 2, 3].map(() => zone(open())))
  await Promise.all(processes.flatMap((held, i) => [1, 2, 3].map(n => made(held, text(name, `${i} ${n}`)))))
  expect(await processes[0]?.recordsAt(name)).toHaveLength(9)
  expect(await database.db.selectFrom('zone_turns').selectAll().execute()).toEqual([])
})

test('a process that died in its turn holds up the others until the turn ends, and no longer', async () => {
  const now = systemClock.now()
  await database.db
    .insertInto('zone_turns')
    .values({ zone: apex, holder: 'x'.repeat(26), until: plusMs(now, 700) })
    .execute()
  const impatient = databaseZoneLock(database.db, systemClock, { leaseMs: 1000, maxWaitMs: 200 })
  const options = { url: powerDns.url, key: powerDns.key, clock: systemClock, zoneLock: impatient }
  const waiting = (await zone(powerDnsZones(options))).create(text(`late.${apex}`, 'x'), null)
  expect(await troubleOf(waiting)).toContain('being changed by others')
  await made(await zone(), text(`late.${apex}`, 'x'))
  expect(systemClock.now() > plusMs(now, 700)).toBe(true)
})

describe('a server', () => {
  test('that does not know our key is said to, without the key', async () => {
    const wrong = open('wrong-key')
    expect(await troubleOf(wrong.findZone(apex))).toBe('PowerDNS does not take our API key.')
    expect(await wrong.checkHealth()).toBe('PowerDNS does not take our API key.')
    expect(await provider.checkHealth()).toBeNull()
  })

  test('that is away, or sends us elsewhere, or talks nonsense is trouble that shows nothing of ours', async () => {
    const seen: (string | null)[] = []
    let answer = () => Response.redirect('http://127.0.0.1:9/')
    const elsewhere = Bun.serve({
      port: 0,
      fetch: request => {
        seen.push(request.headers.get('x-api-key'))
        return answer()
      },
    })
    const odd = powerDnsZones({
      url: `http://127.0.0.1:${elsewhere.port}/`,
      key: 'k',
      clock: systemClock,
      zoneLock: databaseZoneLock(database.db, systemClock),
    })
    expect(await troubleOf(odd.findZone(apex))).toBe('PowerDNS answered 302')
    expect(seen).toHaveLength(1)
    answer = () => new Response('<html>')
    expect(await troubleOf(odd.findZone(apex))).toBe('PowerDNS gave an answer that cannot be read.')
    answer = () => new Response('{"error":"busy"}', { status: 429, headers: { 'retry-after': '7' } })
    expect(await odd.findZone(apex).catch((error: unknown) => error)).toMatchObject({ retryAfterSeconds: 7 })
    seen.length = 0
    answer = () => new Response('', { status: 503 })
    expect(await troubleOf(odd.findZone(apex))).toBe('PowerDNS answered 503')
    expect(seen).toHaveLength(3)
    await elsewhere.stop(true)
    expect(await odd.checkHealth()).toBe('PowerDNS does not answer.')
  })
})

async function troubleOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DnsZoneError)) throw new Error(`no ZoneTrouble: ${error}`)
  return error.message
}
