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
import { databaseZoneLock } from '../../../src/ports/dns-zone/powerdns/zone-lock.ts'
import { networkResolver } from '../../../src/ports/resolver/network/network.ts'
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
  const zoneLock = databaseZoneLock(database.db, systemClock)
  return powerDnsZones({ url: powerDns.url, key, clock: systemClock, zoneLock })
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

async function openZone(from = provider): Promise<Zone> {
  const found = await from.findZone(apex)
  if (!found) throw new Error('no zone')
  return found
}

async function setsOf(name: string): Promise<readonly RrSet[]> {
  const { rrsets } = await powerDns.ask('GET', `/zones/${apex}.`)
  return rrsets.filter((rrset: RrSet) => rrset.name === `${name}.`)
}

async function created(zone: Zone, record: ZoneRecord, mark: string | null = 'ours'): Promise<ExistingRecord> {
  const written = await zone.create(record, mark)
  if (written.kind !== 'written') throw new Error(written.kind)
  return written.record
}

describe('the zone of a name', () => {
  test('is the nearest', async () => {
    expect((await provider.findZone('a.b.long.contract.example'))?.apex).toBe('long.contract.example')
    expect((await provider.findZone('along.contract.example'))?.apex).toBe(apex)
  })

  test('is none when the nearest one is a secondary, whose records come from its primary', async () => {
    await powerDns.addZone('secondary.contract.example', 'Slave')
    expect(await provider.findZone('a.secondary.contract.example')).toBeNull()
  })
})

describe('what other people wrote', () => {
  test('to the same set stays as it is: records, comments, TTL, disabled records', async () => {
    const name = `shared.${apex}`
    const comments = [{ content: 'do not touch', account: 'jane', modified_at: 1_700_000_000 }]
    await powerDns.put(apex, name, 'TXT', ['"by" " hand"'], { ttl: 7200, comments })
    const [before] = await setsOf(name)
    const records = [...(before?.records ?? []), { content: '"off"', disabled: true }]
    await powerDns.put(apex, name, 'TXT', [], { ttl: 7200, comments, records })

    const zone = await openZone()
    const ours = await created(zone, text(name, 'ours'))
    expect(ours.ttlSeconds).toBe(7200)
    expect((await zone.recordsAt(name)).map(({ value, mark }) => [value, mark])).toEqual([
      ['by hand', null],
      ['ours', 'ours'],
    ])
    await zone.update(ours.id, text(name, 'ours still'), 'ours')
    await zone.remove(ours.id)
    const [after, ...more] = await setsOf(name)
    expect(more).toEqual([])
    expect(after).toMatchObject({ ttl: 7200, comments })
    expect(after?.comments).toHaveLength(1)
    expect(new Set(after?.records)).toEqual(new Set(records))
  })

  test('replaces our record: its mark and times no longer count once somebody changed it by hand', async () => {
    const name = `taken.${apex}`
    const zone = await openZone()
    await created(zone, text(name, 'ours'))
    await powerDns.put(apex, name, 'TXT', ['"theirs"'])
    expect(await zone.recordsAt(name)).toMatchObject([{ value: 'theirs', mark: null, createdAt: null }])
    await created(zone, text(name, 'second'))
    expect((await setsOf(name))[0]?.comments).toHaveLength(1)
  })

  test('has an id of its own, even if it equals what our record was before an update', async () => {
    const name = `again.${apex}`
    const zone = await openZone()
    await powerDns.put(apex, name, 'TXT', ['"1"'])
    const [first] = await zone.recordsAt(name)
    await zone.update(first?.id ?? '', text(name, '2'), null)
    const { records = [], comments = [] } = (await setsOf(name))[0] ?? {}
    await powerDns.put(apex, name, 'TXT', [], { records: [...records, { content: '"1"', disabled: false }], comments })
    const ids = (await zone.recordsUnder(apex)).filter(record => record.name === name).map(record => record.id)
    expect(new Set(ids).size).toBe(2)
    expect(ids).toContain(first?.id ?? '')
  })

  test('of an unsupported type is not shown, and no CNAME is put beside it', async () => {
    const name = `caa.${apex}`
    await powerDns.put(apex, name, 'CAA', ['0 issue "ca.example"'])
    const zone = await openZone()
    expect(await zone.recordsAt(name)).toEqual([])
    const alias: ZoneRecord = { ...text(name, 'host.example'), type: 'CNAME' }
    expect(await zone.create(alias, null)).toEqual({ kind: 'conflict', existing: [] })
  })
})

test('a long text is one record in DNS, however somebody split it by hand', async () => {
  const resolver = networkResolver({ servers: [powerDns.endpoint], timeoutMs: 2000 })
  const lookUp = (name: string) => resolver.resolve(name, 'TXT', { forProof: true })
  const value = `v=DKIM1; p=${'A1b/'.repeat(300)}; n="quoted" \\ ü`
  const zone = await openZone()
  await created(zone, text(`lengthy.${apex}`, value))
  expect(await lookUp(`lengthy.${apex}`)).toMatchObject({ kind: 'found', records: [value] })
  await powerDns.put(apex, `cut.${apex}`, 'TXT', ['"v=spf1 include:a" ".example -" "all"'])
  expect((await zone.recordsAt(`cut.${apex}`)).map(record => record.value)).toEqual(['v=spf1 include:a.example -all'])
  expect(await zone.create(text(`cut.${apex}`, 'v=spf1 include:a.example -all'), null)).toMatchObject({
    kind: 'exists',
  })
})

test('processes that write to one set at the same time do not overwrite each other', async () => {
  const name = `busy.${apex}`
  const processes = await Promise.all([1, 2, 3].map(() => openZone(open())))
  await Promise.all(processes.flatMap((zone, i) => [1, 2, 3].map(n => created(zone, text(name, `${i} ${n}`)))))
  expect(await processes[0]?.recordsAt(name)).toHaveLength(9)
  expect(await database.db.selectFrom('zone_turns').selectAll().execute()).toEqual([])
})

test('the lock of a process that died blocks the others until it expires, and no longer', async () => {
  const now = systemClock.now()
  await database.db
    .insertInto('zone_turns')
    .values({ zone: apex, holder: 'x'.repeat(26), until: plusMs(now, 700) })
    .execute()
  const impatient = databaseZoneLock(database.db, systemClock, { leaseMs: 1000, maxWaitMs: 200 })
  const options = { url: powerDns.url, key: powerDns.key, clock: systemClock, zoneLock: impatient }
  const waiting = (await openZone(powerDnsZones(options))).create(text(`late.${apex}`, 'x'), null)
  expect(await zoneErrorOf(waiting)).toContain('being changed by someone else')
  await created(await openZone(), text(`late.${apex}`, 'x'))
  expect(systemClock.now() > plusMs(now, 700)).toBe(true)
})

describe('a server', () => {
  test('that refuses our key is reported, without the key', async () => {
    const wrong = open('wrong-key')
    expect(await zoneErrorOf(wrong.findZone(apex))).toBe('PowerDNS refused our API key.')
    expect(await wrong.checkHealth()).toBe('PowerDNS refused our API key.')
    expect(await provider.checkHealth()).toBeNull()
  })

  test('that is unreachable, redirects, or sends nonsense is an error that shows nothing of ours', async () => {
    const seen: (string | null)[] = []
    let respond = () => Response.redirect('http://127.0.0.1:9/')
    const elsewhere = Bun.serve({
      port: 0,
      fetch: request => {
        seen.push(request.headers.get('x-api-key'))
        return respond()
      },
    })
    const odd = powerDnsZones({
      url: `http://127.0.0.1:${elsewhere.port}/`,
      key: 'k',
      clock: systemClock,
      zoneLock: databaseZoneLock(database.db, systemClock),
    })
    expect(await zoneErrorOf(odd.findZone(apex))).toBe('PowerDNS responded with status 302')
    expect(seen).toHaveLength(1)
    respond = () => new Response('<html>')
    expect(await zoneErrorOf(odd.findZone(apex))).toBe('PowerDNS sent an unreadable response.')
    respond = () => new Response('{"error":"busy"}', { status: 429, headers: { 'retry-after': '7' } })
    expect(await odd.findZone(apex).catch((error: unknown) => error)).toMatchObject({ retryAfterSeconds: 7 })
    seen.length = 0
    respond = () => new Response('', { status: 503 })
    expect(await zoneErrorOf(odd.findZone(apex))).toBe('PowerDNS responded with status 503')
    expect(seen).toHaveLength(3)
    await elsewhere.stop(true)
    expect(await odd.checkHealth()).toBe('PowerDNS did not respond.')
  })
})

async function zoneErrorOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DnsZoneError)) throw new Error(`not a DnsZoneError: ${error}`)
  return error.message
}
