import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { apiRecordId } from '../../../src/domains/managed-records/list.ts'
import { ownershipRecord } from '../../../src/domains/ownership.ts'
import type { ZoneRecord } from '../../../src/ports/dns-zone/port.ts'
import { newBrand } from '../fixtures.ts'
import { newRegistrant, openZoneServer, type Registrant, type ZoneServer } from './fixtures.ts'

let server: ZoneServer
let neighbour: Registrant
let zoneBefore: readonly unknown[]

/** The tenant's domain, in a zone that others share. */
let tenantsId: string

const records = (id: string) => `/v1/domains/${id}/dns/records`
const publish = (name: string, value = '192.0.2.99') =>
  server.zone.create({ type: 'A', name, value, priority: null, ttlSeconds: 300 }, null)
const wholeZone = () => server.zone.recordsUnder('test')

beforeAll(async () => {
  server = await openZoneServer()
  neighbour = await newRegistrant(server)
  const { brandId, organizationId, key } = neighbour
  const by = { brandId, organizationId, key }
  tenantsId = await server.register('a.example.test')
  await server.register('child.a.example.test', by)
  await server.register('b.example.test', by)
  for (const name of [
    'example.test',
    'b.example.test',
    'child.a.example.test',
    'www.child.a.example.test',
    'xa.example.test',
  ])
    await publish(name)
  await publish('mine.a.example.test')
})
afterAll(() => server.close())
beforeEach(async () => {
  zoneBefore = await wholeZone()
})

const foreignNames = [
  ['the parent', 'example.test'],
  ['the parent, with a final dot', 'example.test.'],
  ['the parent, in capitals', 'EXAMPLE.TEST'],
  ['the top of the zone', 'test.'],
  ['a sibling', 'b.example.test'],
  ['below a sibling', 'www.b.example.test.'],
  ['a sibling whose name ends with the domain', 'xa.example.test'],
  ['a name elsewhere', 'victim.example.'],
  ["another tenant's child", 'child.a.example.test'],
  ["another tenant's child, relative", 'child'],
  ["another tenant's child, in capitals", 'CHILD'],
  ["below another tenant's child", 'deep.www.child.a.example.test'],
  ["a wildcard below another tenant's child", '*.child'],
  ["a DKIM key of another tenant's child", 's1._domainkey.child.a.example.test'],
  ['a wildcard beside the parent', '*.example.test.'],
  ['the ownership record', '_mailroom'],
  ['the ownership record, in capitals', '_MAILROOM.a.example.test.'],
  ['the ownership record of a child', '_mailroom.child'],
  ['the ownership record of a child that nobody has', '_mailroom.free'],
  ['below the ownership record', 'x._mailroom.a.example.test'],
  ['below the ownership record, relative', '_x._mailroom'],
] as const

describe('by name, a tenant cannot use', () => {
  test.each(foreignNames)('%s, to create', async (_, name) => {
    for (const json of [
      { type: 'TXT', name, value: 'mine now' },
      { type: 'CNAME', name, value: 'attacker.example' },
      { type: 'MX', name, value: 'mx.attacker.example', priority: 0 },
    ]) {
      const { status, json: response, text } = await server.call('POST', records(tenantsId), { json })
      expect([status, response.error.code, response.error.param]).toEqual([403, 'dns_name_not_allowed', 'name'])
      expect(text).not.toContain(neighbour.organizationId)
    }
    expect(await wholeZone()).toEqual([...zoneBefore] as never)
  })

  test.each(foreignNames)('%s, to rename a record to it', async (_, name) => {
    const { data } = (await server.call('GET', records(tenantsId))).json
    const mine = data.find((item: { name: string }) => item.name === 'mine.a.example.test')
    const { status, json } = await server.call('PATCH', `${records(tenantsId)}/${mine.id}`, { json: { name } })
    expect([status, json.error.code, json.error.param]).toEqual([403, 'dns_name_not_allowed', 'name'])
    expect(await wholeZone()).toEqual([...zoneBefore] as never)
  })
})

test('a proof of ownership cannot be published under any name, so that no alias can point to it', async () => {
  const { value } = ownershipRecord(server.organizationId, 'free.a.example.test')
  for (const name of ['proof', '*', '@']) {
    const { status, json } = await server.call('POST', records(tenantsId), { json: { type: 'TXT', name, value } })
    expect([status, json.error.code, json.error.param]).toEqual([403, 'dns_name_not_allowed', 'value'])
  }
  expect(await wholeZone()).toEqual([...zoneBefore] as never)
})

test("the list shows only the tenant's records", async () => {
  const { json } = await server.call('GET', records(tenantsId))
  expect(json.data.map((item: { name: string }) => item.name)).toEqual(['mine.a.example.test'])
  expect((await server.call('GET', `${records(tenantsId)}?limit=1`)).json.next_cursor).toBeNull()
})

describe('by id, a tenant cannot use', () => {
  /** The API ids of all records of the zone. */
  async function idsByName(): Promise<ReadonlyMap<string, string>> {
    const access = { provider: 'local', zone: server.zone }
    return new Map((await wholeZone()).map(record => [record.name, apiRecordId(access, record)]))
  }

  test.each([
    'example.test',
    'b.example.test',
    'xa.example.test',
    'child.a.example.test',
    'www.child.a.example.test',
    '_mailroom.a.example.test',
    '_mailroom.child.a.example.test',
    '_mailroom.b.example.test',
  ])('the record %s', async name => {
    const ids = await idsByName()
    // Proves that the computed ids are right: the tenant's own record is found by its id.
    const own = await server.call('PATCH', `${records(tenantsId)}/${ids.get('mine.a.example.test')}`, {
      json: { ttl: 300 },
    })
    expect(own.status).toBe(200)
    const path = `${records(tenantsId)}/${ids.get(name)}`
    const unknown = `${records(tenantsId)}/rec_00000000000000000000000000`
    for (const [method, json] of [
      ['PATCH', { value: '192.0.2.66' }],
      ['DELETE', undefined],
    ] as const) {
      const response = await server.call(method, path, json ? { json } : {})
      const toUnknown = await server.call(method, unknown, json ? { json } : {})
      expect(response.status).toBe(404)
      expect(response.text.replace(/rec_\w{26}/, '')).toBe(toUnknown.text.replace(/rec_\w{26}/, ''))
    }
    expect(await wholeZone()).toEqual([...zoneBefore] as never)
  })
})

test("a key for one brand cannot use another brand's subdomain, a key of the organization can", async () => {
  const otherBrand = await newBrand(server.database.db, server.organizationId)
  const { key } = await server.newKey({ brandId: server.brandId })
  const id = await server.register('brands.test')
  await server.register('sub.brands.test', {
    organizationId: server.organizationId,
    brandId: otherBrand,
    key: server.key,
  })
  await publish('www.sub.brands.test')
  const json = { type: 'A', name: 'mail.sub.brands.test', value: '192.0.2.1' }
  expect((await server.call('POST', records(id), { json, key })).json.error.code).toBe('dns_name_not_allowed')
  expect((await server.call('GET', records(id), { key })).json.data).toEqual([])
  expect((await server.call('POST', records(id), { json })).status).toBe(201)
  expect((await server.call('GET', records(id))).json.data).toHaveLength(2)
})

test('two organizations that own the same domain both see its records, and neither can change what Mailroom publishes for the other', async () => {
  const mine = await server.register('both.test')
  const theirs = await server.register('both.test', neighbour)
  await server.call('POST', `/v1/domains/${theirs}/publish-dns`, { key: neighbour.key })
  const { data } = (await server.call('GET', records(mine))).json
  const dkim = data.find((item: { name: string }) => item.name.includes('_domainkey'))
  expect(dkim.managed_by).toBe('mailroom')
  for (const [method, json] of [
    ['PATCH', { value: 'x' }],
    ['DELETE', undefined],
  ] as const) {
    const response = await server.call(method, `${records(mine)}/${dkim.id}`, json ? { json } : {})
    expect([response.status, response.json.error.code]).toEqual([409, 'record_managed'])
  }
})

describe('a subdomain that is registered while a record below it is being written', () => {
  let count = 0
  const names = () => {
    count++
    return { parent: `race${count}.test`, child: `child.race${count}.test` }
  }
  const held = async (name: string): Promise<readonly Partial<ZoneRecord>[]> =>
    (await server.recordsUnder(name)).map(({ type, name: at, value }) => ({ type, name: at, value }))

  test.each(['before', 'after'] as const)('removes a new record again (%s the write)', async when => {
    const { parent, child } = names()
    const id = await server.register(parent)
    const write = 'create'
    server.interrupt({ when, write, happens: () => server.register(child, neighbour) })
    const json = { type: 'A', name: `www.${child}`, value: '192.0.2.1' }
    const { status, json: response } = await server.call('POST', records(id), { json })
    expect([status, response.error.code]).toEqual([403, 'dns_name_not_allowed'])
    expect(await held(parent)).toEqual([])
  })

  test.each(['before', 'after'] as const)('restores a changed record (%s the write)', async when => {
    const { parent, child } = names()
    const id = await server.register(parent)
    const { json: record } = await server.call('POST', records(id), {
      json: { type: 'A', name: 'www', value: '192.0.2.1' },
    })
    server.interrupt({ when, write: 'update', happens: () => server.register(child, neighbour) })
    const { status } = await server.call('PATCH', `${records(id)}/${record.id}`, {
      json: { name: `www.${child}`, value: '192.0.2.2' },
    })
    expect(status).toBe(403)
    expect(await held(parent)).toEqual([{ type: 'A', name: `www.${parent}`, value: '192.0.2.1' }])
  })

  test('removes a record whose own domain is deleted meanwhile', async () => {
    const { parent } = names()
    const id = await server.register(parent)
    server.interrupt({ when: 'after', write: 'create', happens: () => server.call('DELETE', `/v1/domains/${id}`) })
    const { status } = await server.call('POST', records(id), { json: { type: 'A', name: 'www', value: '192.0.2.1' } })
    expect(status).toBe(404)
    expect(await held(parent)).toEqual([])
  })

  test('under load: exactly the acknowledged records exist', async () => {
    const { parent, child } = names()
    const id = await server.register(parent)
    const registered = server.own(child, neighbour.organizationId).then(() => server.register(child, neighbour))
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        server.call('POST', records(id), { json: { type: 'A', name: `n${n}.${child}`, value: '192.0.2.1' } }),
      ),
    )
    await registered
    const acknowledged = responses.flatMap(response => (response.status === 201 ? [response.json.name] : []))
    const refused = responses.filter(response => response.status !== 201)
    expect(refused.every(callResult => callResult.json.error.code === 'dns_name_not_allowed')).toBe(true)
    expect((await server.recordsUnder(child)).map(existingRecord => existingRecord.name).toSorted()).toEqual(
      acknowledged.toSorted(),
    )
    const after = await server.call('POST', records(id), {
      json: { type: 'A', name: `n.${child}`, value: '192.0.2.1' },
    })
    expect(after.status).toBe(403)
  })
})
