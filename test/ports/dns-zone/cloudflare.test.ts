import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { cloudflareZones } from '../../../src/ports/dns-zone/cloudflare/cloudflare.ts'
import { type DnsProvider, DnsZoneError, type Zone, type ZoneRecord } from '../../../src/ports/dns-zone/port.ts'
import { cloudflareError, startCloudflare, type TestCloudflare } from '../../harness/cloudflare.ts'
import { zoneContract } from './contract.ts'

let cloudflare: TestCloudflare
let provider: DnsProvider
let zone: Zone

const apex = 'contract.example'

beforeAll(async () => {
  cloudflare = startCloudflare()
  for (const name of [apex, 'deep.contract.example']) cloudflare.addZone(name)
  provider = open()
  const found = await provider.findZone(apex)
  if (!found) throw new Error('no zone')
  zone = found
})
afterAll(() => cloudflare.close())
afterEach(() => cloudflare.failWith(undefined))

const open = (token = cloudflare.token) => cloudflareZones({ token, url: cloudflare.url })
const a = (name: string, value = '192.0.2.1'): ZoneRecord => ({
  type: 'A',
  name,
  value,
  priority: null,
  ttlSeconds: 300,
})
const zoneErrorOf = async (work: Promise<unknown>): Promise<DnsZoneError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof DnsZoneError)) throw new Error(`not a DnsZoneError: ${error}`)
  return error
}

zoneContract('cloudflare', () => ({ provider, under: `below.${apex}`, elsewhere: 'contract.invalid' }))

describe('the zone of a name', () => {
  test('is the nearest that is active and served by Cloudflare', async () => {
    expect((await provider.findZone('a.b.deep.contract.example'))?.apex).toBe('deep.contract.example')
    cloudflare.addZone('pending.contract.example', { status: 'pending' })
    expect((await provider.findZone('a.pending.contract.example'))?.apex).toBe(apex)
    cloudflare.addZone('secondary.contract.example', { type: 'secondary' })
    expect(await provider.findZone('a.secondary.contract.example')).toBeNull()
  })

  test('takes at most eight requests to find, however deep the name is, and is cached', async () => {
    const name = `${'a.'.repeat(80)}${apex}`
    cloudflare.requests.length = 0
    expect((await provider.findZone(name))?.apex).toBe(apex)
    const times = cloudflare.requests.length
    expect(times).toBeLessThanOrEqual(8)
    await provider.findZone(name)
    expect(cloudflare.requests).toHaveLength(times)
  })
})

test('the records of a zone are read page by page', async () => {
  for (let n = 0; n < 10; n++) await zone.create(a(`n${n}.pages.${apex}`), null)
  cloudflare.requests.length = 0
  expect(await zone.recordsUnder(`pages.${apex}`)).toHaveLength(10)
  expect(cloudflare.requests.map(request => request.query.get('page'))).toEqual(['1', '1', '2', '3', '4'])
})

test('proxying, tags and TTL of a record at Cloudflare stay as they are, and other types are left alone', async () => {
  const name = `proxied.${apex}`
  cloudflare.addRecord(apex, {
    type: 'A',
    name,
    content: '192.0.2.1',
    proxied: true,
    tags: ['team:web'],
    comment: 'by hand',
  })
  cloudflare.addRecord(apex, { type: 'SRV', name, content: '0 5060 sip.example' })
  const [existing, ...more] = await zone.recordsAt(name)
  expect(more).toEqual([])
  expect(existing).toMatchObject({ type: 'A', ttlSeconds: 300, mark: 'by hand' })
  await zone.update(existing?.id ?? '', { ...a(name, '192.0.2.9'), ttlSeconds: 900 }, existing?.mark ?? null)
  expect(cloudflare.recordsOf(apex).filter(record => record.name === name)).toMatchObject([
    { content: '192.0.2.9', proxied: true, ttl: 1, tags: ['team:web'], comment: 'by hand' },
    { type: 'SRV' },
  ])
})

test('a text is sent in quotes, in strings of 255 octets, and read with quotes or without', async () => {
  const name = `text.${apex}`
  const value = 'x'.repeat(300)
  await zone.create({ ...a(name), type: 'TXT', value }, null)
  expect(cloudflare.recordsOf(apex).find(record => record.name === name)?.content).toBe(
    `"${'x'.repeat(255)}" "${'x'.repeat(45)}"`,
  )
  cloudflare.addRecord(apex, { type: 'TXT', name, content: 'v=old; without quotes' })
  expect((await zone.recordsAt(name)).map(record => record.value).toSorted()).toEqual(['v=old; without quotes', value])
})

test('other records may stand beside the CNAME at a zone’s apex, which Cloudflare flattens', async () => {
  cloudflare.addZone('flat.example')
  cloudflare.addRecord('flat.example', { type: 'CNAME', name: 'flat.example', content: 'host.example' })
  const flat = await provider.findZone('flat.example')
  const record: ZoneRecord = { ...a('flat.example'), type: 'TXT', value: 'v=spf1 -all' }
  expect(await flat?.create(record, null)).toMatchObject({ kind: 'written' })
  expect(await flat?.create(a('flat.example'), null)).toMatchObject({ kind: 'conflict', existing: [{}, {}] })
})

test.each([81_057, 81_058])('error code %d, the record already exists, is not an error', async code => {
  const name = `raced-${code}.${apex}`
  cloudflare.failWith(({ method }) => {
    if (method !== 'POST') return undefined
    cloudflare.addRecord(apex, { type: 'A', name, content: '192.0.2.1', comment: 'first' })
    return cloudflareError(400, code, 'An identical record already exists.')
  })
  expect(await zone.create(a(name), 'second')).toMatchObject({ kind: 'exists', record: { mark: 'first' } })
})

describe('a token', () => {
  test('that Cloudflare does not know is reported as refused, and is not shown', async () => {
    const wrong = open('wrong-token')
    const error = await zoneErrorOf(wrong.findZone(apex))
    expect(error.message).toBe('Cloudflare refused our API token (9109).')
    expect(await wrong.checkHealth()).toBe(error.message)
    expect(await provider.checkHealth()).toBeNull()
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + error.stack).not.toContain('wrong-token')
  })

  test('that may not write is reported as refused', async () => {
    cloudflare.failWith(({ method }) =>
      method === 'POST' ? cloudflareError(403, 10_000, 'Authentication error') : undefined,
    )
    expect((await zoneErrorOf(zone.create(a(`ro.${apex}`), null))).message).toContain('10000')
  })
})

describe('a temporary error', () => {
  const failing = (times: number, response: () => Response) => {
    let left = times
    cloudflare.requests.length = 0
    cloudflare.failWith(() => (left-- > 0 ? response() : undefined))
  }

  test('makes a read try again, three times in all', async () => {
    failing(2, () => cloudflareError(429, 971, 'Please wait', { 'retry-after': '0' }))
    expect(await zone.recordsAt(`quiet.${apex}`)).toEqual([])
    expect(cloudflare.requests).toHaveLength(3)
    failing(9, () => new Response('<html>', { status: 502 }))
    expect((await zoneErrorOf(zone.recordsAt(`quiet.${apex}`))).message).toBe('Cloudflare responded with status 502')
    expect(cloudflare.requests).toHaveLength(3)
  })

  test('is left to the caller when Cloudflare asks for a long wait', async () => {
    failing(9, () => cloudflareError(429, 971, 'Please wait', { 'retry-after': '120' }))
    expect(await zoneErrorOf(zone.recordsAt(`quiet.${apex}`))).toMatchObject({ retryAfterSeconds: 120 })
    expect(cloudflare.requests).toHaveLength(1)
  })

  test('does not make a write try again', async () => {
    let writes = 0
    cloudflare.failWith(({ method }) => {
      if (method !== 'POST') return undefined
      writes++
      return cloudflareError(500, 10_001, 'Internal error')
    })
    await zoneErrorOf(zone.create(a(`once.${apex}`), null))
    expect(writes).toBe(1)
  })

  test('is what an unreachable server is', async () => {
    const away = cloudflareZones({ token: 'x', url: 'http://127.0.0.1:9/client/v4' })
    expect(await away.checkHealth()).toBe('Cloudflare did not respond.')
  })
})

test('a zone that was deleted is an error, not an absence of its records', async () => {
  cloudflare.failWith(() => cloudflareError(404, 7003, 'Could not route'))
  await zoneErrorOf(zone.remove('0'.repeat(32)))
  await zoneErrorOf(zone.update('0'.repeat(32), a(`x.${apex}`), null))
})
