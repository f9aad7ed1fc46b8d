import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { managedMark } from '../../../src/domains/dns/record-owner.ts'
import { expectConditionalChange } from '../../harness/conditional-change.ts'
import { inMs } from '../../harness/http-server.ts'
import { newBrand } from '../fixtures.ts'
import { openZoneServer, type ZoneServer } from './fixtures.ts'

let server: ZoneServer
beforeAll(async () => {
  server = await openZoneServer()
})
afterAll(() => server.close())

const records = (id: string) => `/v1/domains/${id}/dns/records`
const create = (id: string, json: object, headers: Record<string, string> = {}) =>
  server.call('POST', records(id), { json, headers })
const patch = (id: string, recordId: string, json: object, headers: Record<string, string> = {}) =>
  server.call('PATCH', `${records(id)}/${recordId}`, { json, headers })
const remove = (id: string, recordId: string, headers: Record<string, string> = {}) =>
  server.call('DELETE', `${records(id)}/${recordId}`, { headers })

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
const code = ({ json }: { json: { error?: { code: string; param?: string } } }) => json.error?.code
const refusalOf = ({ status, json }: { status: number; json: { error: { code: string; param?: string } } }) => [
  status,
  json.error.code,
  json.error.param,
]

test('a record is created, listed, changed and deleted', async () => {
  const id = await server.register('life.test')
  const created = await create(id, { type: 'A', name: 'WWW', value: '192.0.2.1' })
  const shape = {
    id: expect.stringMatching(/^rec_[0-9a-z]{26}$/),
    type: 'A',
    name: 'www.life.test',
    value: '192.0.2.1',
    ttl: 300,
    priority: null,
    managed_by: 'user',
    created_at: time,
    updated_at: time,
  }
  expect([created.status, created.json]).toEqual([201, shape])
  expect((await server.call('GET', records(id))).json).toEqual({ data: [created.json], next_cursor: null })

  const changed = await patch(id, created.json.id, { value: '192.0.2.2', ttl: 60 })
  expect([changed.status, changed.json]).toEqual([
    200,
    { ...created.json, value: '192.0.2.2', ttl: 60, updated_at: time },
  ])
  expect(changed.json.updated_at > created.json.updated_at).toBe(true)
  expect((await patch(id, created.json.id, { name: 'other' })).json).toMatchObject({
    id: created.json.id,
    name: 'other.life.test',
  })
  const removed = await remove(id, created.json.id)
  expect([removed.status, removed.json]).toEqual([200, { id: created.json.id, deleted: true }])
  expect(await server.recordsUnder('life.test')).toEqual([])
  expect(refusalOf(await remove(id, created.json.id))).toEqual([404, 'not_found', undefined])
  expect(refusalOf(await patch(id, created.json.id, { ttl: 60 }))).toEqual([404, 'not_found', undefined])
})

test.each([
  [
    { type: 'AAAA', name: '@', value: '2001:DB8::1' },
    { name: 'kinds.test', value: '2001:db8::1' },
  ],
  [
    { type: 'CNAME', name: 'Go.kinds.test.', value: 'Host.Example.' },
    { name: 'go.kinds.test', value: 'host.example' },
  ],
  [
    { type: 'MX', name: 'kinds.test', value: 'mx.example', priority: 5 },
    { name: 'kinds.test', priority: 5 },
  ],
  [
    { type: 'MX', name: 'no-mail', value: '.', priority: 0 },
    { name: 'no-mail.kinds.test', priority: 0 },
  ],
  [
    { type: 'TXT', name: '_dmarc.bücher', value: 'v=DMARC1; p=none', ttl: 86400 },
    { name: '_dmarc.xn--bcher-kva.kinds.test' },
  ],
  [
    { type: 'TXT', name: '*', value: 'x'.repeat(4080), ttl: 60, priority: null },
    { name: '*.kinds.test', ttl: 60 },
  ],
])('accepts %j', async (json, shape) => {
  const { data } = (await server.call('GET', '/v1/domains')).json
  const id =
    data.find((item: { domain: string }) => item.domain === 'kinds.test')?.id ?? (await server.register('kinds.test'))
  const { status, json: body } = await create(id, json)
  expect([status, body]).toMatchObject([201, { ...json, ...shape }])
})

test.each([
  ['www.google.com', 403],
  ['google.com', 403],
  ['mail.sub', 403],
  ['key._domainkey', 403],
  ['test', 'test.names.test'],
  ['www.', 403],
  ['www.names.test.example', 403],
  ['xnames.test', 403],
  ['_mailroom', 403],
  ['_mailroom.names.test', 403],
  ['*._mailroom.names.test', 403],
  ['www.google.com.', 403],
  ['www', 'www.names.test'],
  ['com', 'com.names.test'],
  ['_dmarc.mail', '_dmarc.mail.names.test'],
  ['_domainkey.google.com', '_domainkey.google.com.names.test'],
  ['*.google.com', '*.google.com.names.test'],
  ['mail.sub.names.test', 'mail.sub.names.test'],
  ['mail.Names.TEST.', 'mail.names.test'],
])('the name %p given for names.test: %p', async (name, expected) => {
  const { data } = (await server.call('GET', '/v1/domains')).json
  const id =
    data.find((item: { domain: string }) => item.domain === 'names.test')?.id ?? (await server.register('names.test'))
  const created = await create(id, { type: 'TXT', name, value: `for ${name}` })
  const changing = await create(id, { type: 'TXT', name: 'changing', value: `from ${name}` })
  const changed = await patch(id, changing.json.id, { name })
  if (expected === 403) {
    expect(refusalOf(created)).toEqual([403, 'dns_name_not_allowed', 'name'])
    expect(refusalOf(changed)).toEqual([403, 'dns_name_not_allowed', 'name'])
  } else {
    expect([created.status, created.json.name]).toEqual([201, expected])
    expect([changed.status, changed.json.name]).toEqual([200, expected])
  }
})

test('DNS returns a long text as one value', async () => {
  const id = await server.register('long.test')
  const value = 'y'.repeat(2000)
  await create(id, { type: 'TXT', name: 'key._domainkey.long.test', value })
  expect((await server.recordsUnder('long.test')).map(existingRecord => existingRecord.value)).toEqual([value])
})

describe('refuses, with the parameter at fault', () => {
  let id: string
  beforeAll(async () => {
    id = await server.register('refused.test')
  })
  const a = { type: 'A', name: 'www', value: '192.0.2.1' }

  test.each([
    [{ ...a, type: 'NS' }, 'type'],
    [{ ...a, type: 'a' }, 'type'],
    [{ name: 'www', value: 'x' }, 'type'],
    [{ ...a, name: '' }, 'name'],
    [{ ...a, name: 'a b' }, 'name'],
    [{ ...a, name: { a: 1 } }, 'name'],
    [{ ...a, name: 'x'.repeat(300) }, 'name'],
    [{ ...a, value: '300.1.1.1' }, 'value'],
    [{ ...a, value: '' }, 'value'],
    [{ ...a, type: 'TXT', value: 'x'.repeat(4081) }, 'value'],
    [{ ...a, type: 'CNAME', value: 'www.refused.test' }, 'value'],
    [{ ...a, ttl: 59 }, 'ttl'],
    [{ ...a, ttl: 86_401 }, 'ttl'],
    [{ ...a, ttl: 60.5 }, 'ttl'],
    [{ ...a, ttl: '300' }, 'ttl'],
    [{ ...a, priority: 10 }, 'priority'],
    [{ type: 'MX', name: '@', value: 'mx.example' }, 'priority'],
    [{ type: 'MX', name: '@', value: 'mx.example', priority: 65_536 }, 'priority'],
    [{ type: 'MX', name: '@', value: 'mx.example', priority: -1 }, 'priority'],
    [{ ...a, proxied: true }, 'proxied'],
  ])('%j', async (json, param) => {
    expect(refusalOf(await create(id, json))).toEqual([400, 'invalid_request', param])
  })

  test('an empty change, a change of the type, to null, or to a value that is invalid for the type', async () => {
    const { json } = await create(id, { ...a, name: 'changing' })
    expect(refusalOf(await patch(id, json.id, {}))).toEqual([400, 'invalid_request', undefined])
    for (const [change, param] of [
      [{ type: 'TXT' }, 'type'],
      [{ name: null }, 'name'],
      [{ value: null }, 'value'],
      [{ ttl: null }, 'ttl'],
      [{ value: 'x' }, 'value'],
      [{ priority: 1 }, 'priority'],
    ] as const)
      expect(refusalOf(await patch(id, json.id, change))).toEqual([400, 'invalid_request', param])
    expect((await patch(id, json.id, { priority: null })).json).toEqual(json)
    const mx = await create(id, { type: 'MX', name: 'changing', value: 'mx.example', priority: 1 })
    expect(refusalOf(await patch(id, mx.json.id, { priority: null }))).toEqual([400, 'invalid_request', 'priority'])
  })

  test('an unknown query parameter and an invalid cursor', async () => {
    expect(refusalOf(await server.call('GET', `${records(id)}?type=A`))).toEqual([400, 'invalid_request', 'type'])
    expect(refusalOf(await server.call('GET', `${records(id)}?cursor=x`))).toEqual([400, 'invalid_cursor', 'cursor'])
    expect(refusalOf(await server.call('GET', `${records(id)}?limit=0`))).toEqual([400, 'invalid_request', 'limit'])
  })
})

describe('records that cannot coexist', () => {
  let id: string
  beforeAll(async () => {
    id = await server.register('beside.test')
  })

  test('a CNAME with others, and others with a CNAME', async () => {
    await create(id, { type: 'A', name: 'a', value: '192.0.2.1' })
    await create(id, { type: 'CNAME', name: 'c', value: 'host.example' })
    const alias = { type: 'CNAME', value: 'host.example' }
    expect(refusalOf(await create(id, { ...alias, name: 'a' }))).toEqual([409, 'dns_record_conflict', 'type'])
    expect(refusalOf(await create(id, { ...alias, name: 'c', value: 'b.example' }))).toEqual([
      409,
      'dns_record_conflict',
      'type',
    ])
    const text = await create(id, { type: 'TXT', name: 't', value: 'x' })
    expect(refusalOf(await create(id, { type: 'TXT', name: 'c', value: 'x' }))).toEqual([
      409,
      'dns_record_conflict',
      'name',
    ])
    expect(refusalOf(await patch(id, text.json.id, { name: 'c' }))).toEqual([409, 'dns_record_conflict', 'name'])
    expect((await server.zone.recordsAt('c.beside.test')).map(existingRecord => existingRecord.type)).toEqual(['CNAME'])
  })

  test('identical ones, at any TTL', async () => {
    const json = { type: 'TXT', name: 'same', value: 'x' }
    const first = await create(id, json)
    expect(refusalOf(await create(id, { ...json, ttl: 60 }))).toEqual([409, 'dns_record_conflict', 'name'])
    const other = await create(id, { ...json, value: 'y' })
    expect(refusalOf(await patch(id, other.json.id, { value: 'x' }))).toEqual([409, 'dns_record_conflict', 'name'])
    expect((await patch(id, first.json.id, { value: 'x' })).status).toBe(200)
  })

  test('a null MX with other MX records', async () => {
    const none = { type: 'MX', name: 'mail', value: '.', priority: 0 }
    const some = { type: 'MX', name: 'mail', value: 'mx.example', priority: 1 }
    const { json } = await create(id, none)
    expect(code(await create(id, some))).toBe('dns_record_conflict')
    expect((await patch(id, json.id, { value: 'mx.example' })).status).toBe(200)
    expect(code(await create(id, none))).toBe('dns_record_conflict')
  })
})

describe('a record that Mailroom manages', () => {
  test("is shown as such, cannot be changed or deleted, and becomes the user's once the domain is deleted", async () => {
    const id = await server.register('managed.test')
    const { json } = await server.call('POST', `/v1/domains/${id}/publish-dns`)
    const { data } = (await server.call('GET', records(id))).json
    expect(data).toHaveLength(json.published.length)
    for (const record of data) {
      expect(record.managed_by).toBe('mailroom')
      expect((await server.call('GET', `${records(id)}/${record.id}`)).json).toEqual(record)
      expect(refusalOf(await patch(id, record.id, { ttl: 60 }))).toEqual([409, 'record_managed', undefined])
      expect(refusalOf(await remove(id, record.id))).toEqual([409, 'record_managed', undefined])
    }
    expect(await server.recordsUnder('managed.test')).toHaveLength(data.length)
    expect((await server.call('DELETE', `/v1/domains/${id}`)).status).toBe(200)
    const again = await server.register('managed.test')
    expect((await server.call('GET', records(again))).json.data[0].managed_by).toBe('user')
    expect((await remove(again, data[0].id)).status).toBe(200)
  })

  test("becomes the user's once somebody edited it", async () => {
    const id = await server.register('by-hand.test')
    await server.call('POST', `/v1/domains/${id}/publish-dns`)
    const [held] = (await server.zone.recordsAt('_dmarc.by-hand.test')) ?? []
    if (!held) throw new Error('not published')
    await server.zone.update(held.id, { ...held, value: 'v=DMARC1; p=reject' }, held.mark)
    const { data } = (await server.call('GET', records(id))).json
    const dmarc = data.find((item: { name: string }) => item.name === '_dmarc.by-hand.test')
    expect(dmarc.managed_by).toBe('user')
    expect((await patch(id, dmarc.id, { value: 'v=DMARC1; p=quarantine' })).status).toBe(200)
  })
})

test('a change can depend on what its caller read; repeating it is no other change', async () => {
  const id = await server.register('read.test')
  const { json } = await create(id, { type: 'A', name: 'www', value: '192.0.2.1' })
  const path = `${records(id)}/${json.id}`
  expect((await server.call('GET', path)).json).toEqual(json)
  await expectConditionalChange(server, path, [{ value: '192.0.2.2' }, { ttl: 60 }])
  const same = await patch(id, json.id, { ttl: 60, if_updated_at: json.updated_at })
  expect([same.status, same.json]).toEqual([200, (await server.call('GET', path)).json])
  expect(refusalOf(await patch(id, json.id, { ttl: 90, if_updated_at: null }))).toEqual([
    409,
    'changed_since_read',
    'if_updated_at',
  ])
})

test('what someone else changes while the zone is written is not overwritten', async () => {
  const id = await server.register('moment.test')
  const { json } = await create(id, { type: 'A', name: 'www', value: '192.0.2.1' })
  const [before] = await server.recordsUnder('moment.test')
  if (!before) throw new Error('not created')
  const happens = () => server.zone.update(before.id, { ...before, value: '192.0.2.3' }, before.mark)
  server.interrupt({ when: 'before', write: 'update', happens })
  const late = await patch(id, json.id, { value: '192.0.2.2', if_updated_at: json.updated_at })
  expect(refusalOf(late)).toEqual([409, 'changed_since_read', 'if_updated_at'])
  expect(await server.recordsUnder('moment.test')).toMatchObject([{ value: '192.0.2.3' }])
})

test('a record that Mailroom did not create is listed, changed and deleted', async () => {
  const id = await server.register('old.test')
  await server.zone.create({ type: 'A', name: 'old.test', value: '192.0.2.7', priority: null, ttlSeconds: 30 }, null)
  const { data } = (await server.call('GET', records(id))).json
  expect(data).toMatchObject([{ name: 'old.test', ttl: 30, managed_by: 'user' }])
  expect((await patch(id, data[0].id, { value: '192.0.2.8' })).json).toMatchObject({ value: '192.0.2.8', ttl: 30 })
  expect((await remove(id, data[0].id)).status).toBe(200)
})

test('the list is paginated, by name, each record once', async () => {
  const id = await server.register('pages.test')
  for (const n of [3, 1, 2, 5, 4]) await create(id, { type: 'TXT', name: `n${n}`, value: 'x' })
  await create(id, { type: 'TXT', name: 'n3', value: 'y' })
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { json } = await server.call('GET', `${records(id)}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
    expect(json.data.length).toBeLessThanOrEqual(2)
    seen.push(...json.data.map((item: { name: string }) => item.name))
    cursor = json.next_cursor
  } while (cursor !== null)
  expect(seen).toEqual(['n1', 'n2', 'n3', 'n3', 'n4', 'n5'].map(value => `${value}.pages.test`))
})

describe('when ownership', () => {
  const operations = (id: string) =>
    [
      ['GET', records(id)],
      ['GET', `${records(id)}/rec_00000000000000000000000000`],
      ['POST', records(id), { type: 'A', name: 'x', value: '192.0.2.1' }],
      ['PATCH', `${records(id)}/rec_00000000000000000000000000`, { ttl: 60 }],
      ['DELETE', `${records(id)}/rec_00000000000000000000000000`],
      ['POST', `/v1/domains/${id}/publish-dns`],
    ] as const

  test('is no longer verified, no record is read or written', async () => {
    const id = await server.register('lost.test')
    for (const { id: proof } of await server.zone.recordsAt('_mailroom.lost.test')) await server.zone.remove(proof)
    for (const [method, path, json] of operations(id)) {
      const response = await server.call(method, path, json ? { json } : {})
      expect([method, ...refusalOf(response)]).toEqual([method, 422, 'ownership_not_verified', undefined])
    }
    expect(await server.recordsUnder('lost.test')).toEqual([])
    // A refused call changes nothing, not even what is known of the ownership; a recheck does.
    expect((await server.call('GET', `/v1/domains/${id}`)).json.ownership_verified).toBe(true)
  })

  test('cannot be looked up, the refusal is retryable', async () => {
    const id = await server.register('dark.test')
    const [proof] = await server.zone.recordsAt('_mailroom.dark.test')
    if (!proof) throw new Error('no proof')
    const away = { type: 'CNAME', name: proof.name, value: '_mailroom.dark.example' } as const
    await server.zone.update(proof.id, { ...proof, ...away }, null)
    server.dns.zone['_mailroom.dark.example'] = { behaviour: { rcode: 'SERVFAIL' } }
    for (const [method, path, json] of operations(id)) {
      const response = await server.call(method, path, json ? { json } : {})
      expect([method, ...refusalOf(response)]).toEqual([method, 500, 'dns_unavailable', undefined])
      expect(response.json.error.retryable).toBe(true)
    }
    expect((await server.call('GET', `/v1/domains/${id}`)).json.ownership_verified).toBe(true)
  })
})

describe('with an Idempotency-Key', () => {
  const cutOff = () => Promise.reject(new Error('the connection was lost'))

  test('an interrupted creation is completed by its retry, and creates one record', async () => {
    const id = await server.register('cut-create.test')
    const json = { type: 'TXT', name: 'x', value: 'once' }
    const headers = { 'idempotency-key': 'cut-create-1' }
    server.interrupt({ when: 'after', write: 'create', happens: cutOff })
    const failed = await create(id, json, headers)
    expect(refusalOf(failed)).toEqual([500, 'dns_provider_error', undefined])
    expect(failed.json.error.retryable).toBe(true)
    expect(failed.text).not.toContain('connection was lost')
    expect(server.logged.join('')).toContain('connection was lost')
    const made = await create(id, json, headers)
    expect(made.status).toBe(201)
    expect(await server.recordsUnder('cut-create.test')).toHaveLength(1)
    const again = await create(id, json, headers)
    expect([again.json, again.headers.get('idempotent-replay')]).toEqual([made.json, 'true'])
    await server.database.db.deleteFrom('idempotency_keys').execute()
    expect((await create(id, json, headers)).json).toEqual(made.json)
    expect(code(await create(id, json, { 'idempotency-key': 'cut-create-2' }))).toBe('dns_record_conflict')
    expect(code(await create(id, json))).toBe('dns_record_conflict')
    expect(await server.recordsUnder('cut-create.test')).toHaveLength(1)
  })

  test('an interrupted change is completed by its retry', async () => {
    const id = await server.register('cut-change.test')
    const { json } = await create(id, { type: 'TXT', name: 'x', value: '1' })
    const headers = { 'idempotency-key': 'cut-change-1' }
    server.interrupt({ when: 'after', write: 'update', happens: cutOff })
    expect(code(await patch(id, json.id, { name: 'y', value: '2' }, headers))).toBe('dns_provider_error')
    const changed = await patch(id, json.id, { name: 'y', value: '2' }, headers)
    expect([changed.status, changed.json]).toMatchObject([200, { id: json.id, name: 'y.cut-change.test', value: '2' }])
    expect(await server.recordsUnder('cut-change.test')).toHaveLength(1)
  })

  test('an interrupted deletion is completed by its retry, only with the same key and record', async () => {
    const id = await server.register('cut-delete.test')
    const { json } = await create(id, { type: 'TXT', name: 'x', value: '1' })
    const headers = { 'idempotency-key': 'cut-delete-1' }
    server.interrupt({ when: 'after', write: 'remove', happens: cutOff })
    expect(code(await remove(id, json.id, headers))).toBe('dns_provider_error')
    expect(code(await remove(id, json.id, { 'idempotency-key': 'cut-delete-2' }))).toBe('not_found')
    expect(code(await remove(id, json.id))).toBe('not_found')
    expect(code(await remove(id, 'rec_00000000000000000000000000', headers))).toBe('not_found')
    const removed = await remove(id, json.id, headers)
    expect([removed.status, removed.json]).toEqual([200, { id: json.id, deleted: true }])
    expect((await remove(id, json.id, headers)).headers.get('idempotent-replay')).toBe('true')
    expect(await server.database.db.selectFrom('dns_removals').selectAll().execute()).toEqual([])
  })

  test('interrupted deletions are dropped after two days', async () => {
    const id = await server.register('forgotten.test')
    const { db } = server.database
    const old = {
      organization_id: server.organizationId,
      idempotency_key: 'never-ended',
      record_id: 'rec_00000000000000000000000000',
    } as const
    await db
      .insertInto('dns_removals')
      .values({ ...old, created_at: inMs(server.clock, -49 * 60 * 60 * 1000) })
      .execute()
    const { json } = await create(id, { type: 'TXT', name: 'x', value: '1' })
    await remove(id, json.id, { 'idempotency-key': 'ends-at-once' })
    expect(await db.selectFrom('dns_removals').selectAll().execute()).toEqual([])
  })

  test('concurrent creations create one record', async () => {
    const id = await server.register('at-once.test')
    const json = { type: 'A', name: 'x', value: '192.0.2.1' }
    const responses = await Promise.all(
      [1, 2, 3, 4].map(() => create(id, json, { 'idempotency-key': 'records-at-once' })),
    )
    expect(responses.every(response => response.status === 201 || code(response) === 'idempotency_in_progress')).toBe(
      true,
    )
    expect(await server.recordsUnder('at-once.test')).toHaveLength(1)
  })
})

describe('publish-dns', () => {
  const publish = (id: string) => server.call('POST', `/v1/domains/${id}/publish-dns`)

  test('publishes the records for sending once, and never MX', async () => {
    const id = await server.register('publish.test')
    await server.call('POST', `/v1/domains/${id}/receiving`)
    const first = await publish(id)
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ domain_id: id, unchanged: [], conflicts: [] })
    const purposes = first.json.published.map((record: { purpose: string }) => record.purpose)
    expect(purposes.toSorted()).toEqual(['dkim', 'dmarc', 'receiving_identity', 'spf'])
    expect(first.json.published.every((record: { status: string }) => record.status === 'verified')).toBe(true)
    const held = await server.recordsUnder('publish.test')
    expect(held.map(existingRecord => existingRecord.type)).not.toContain('MX')
    expect((await server.call('GET', `/v1/domains/${id}`)).json).toMatchObject({
      ready_to_send: true,
      receiving: { next_step: 'mx' },
    })
    const again = await publish(id)
    expect(again.json).toEqual({ domain_id: id, published: [], unchanged: first.json.published, conflicts: [] })
    expect(await server.recordsUnder('publish.test')).toEqual(held)
  })

  test("reports someone else's records as conflicts and keeps them", async () => {
    const id = await server.register('conflict.test')
    const txt = { type: 'TXT', priority: null, ttlSeconds: 300 } as const
    await server.zone.create({ ...txt, name: 'conflict.test', value: 'v=spf1 -all' }, null)
    await server.zone.create({ ...txt, type: 'CNAME', name: '_dmarc.conflict.test', value: 'dmarc.example' }, null)
    const { json } = await publish(id)
    expect(json.published).toMatchObject([{ purpose: 'dkim' }])
    expect(json.conflicts).toEqual([
      {
        record: expect.objectContaining({ purpose: 'spf', status: 'mismatch', found: ['v=spf1 -all'] }),
        existing: [{ type: 'TXT', name: 'conflict.test', value: 'v=spf1 -all', ttl: 300, priority: null }],
        reason: expect.any(String),
      },
      {
        record: expect.objectContaining({ purpose: 'dmarc' }),
        existing: [{ type: 'CNAME', name: '_dmarc.conflict.test', value: 'dmarc.example', ttl: 300, priority: null }],
        reason: expect.stringContaining('CNAME'),
      },
    ])
    expect(await server.recordsUnder('conflict.test')).toHaveLength(3)
  })

  test('updates what Mailroom published before, unless somebody edited it', async () => {
    const id = await server.register('outdated.test')
    await publish(id)
    const { db } = server.database
    const older = 'v=spf1 include:spf.old.example ~all'
    const [spf] = await server.zone.recordsAt('outdated.test')
    if (!spf) throw new Error('no SPF')
    await server.zone.update(
      spf.id,
      { ...spf, value: older },
      managedMark(id as `dom_${string}`, { ...spf, value: older }),
    )
    expect((await publish(id)).json.published).toMatchObject([{ purpose: 'spf', status: 'verified' }])
    expect((await server.zone.recordsAt('outdated.test')).map(existingRecord => existingRecord.value)).toEqual([
      'v=spf1 include:spf.relay.example ~all',
    ])
    await server.zone.update(spf.id, { ...spf, value: 'v=spf1 mx -all' }, spf.mark)
    expect((await publish(id)).json.conflicts).toMatchObject([{ existing: [{ value: 'v=spf1 mx -all' }] }])
    expect(
      (await db.selectFrom('local_records').select('id').where('name', '=', 'outdated.test').execute()).length,
    ).toBe(1)
  })

  test('completes what a failure of the provider interrupted', async () => {
    const id = await server.register('half.test')
    server.interrupt({ when: 'before', write: 'create', happens: () => Promise.reject(new Error('locked')) })
    expect(refusalOf(await publish(id))).toEqual([500, 'dns_provider_error', undefined])
    expect((await publish(id)).json).toMatchObject({ conflicts: [] })
    expect(await server.recordsUnder('half.test')).toHaveLength(3)
  })
})

describe('the DNS setup', () => {
  test('shows ownership, the provider and all records', async () => {
    const id = await server.register('setup.test')
    const { status, json } = await server.call('GET', `/v1/domains/${id}/dns`)
    expect([status, json]).toEqual([
      200,
      {
        domain_id: id,
        ownership: {
          verified: true,
          checked_at: time,
          record: expect.objectContaining({
            purpose: 'ownership',
            name: '_mailroom.setup.test',
            status: 'verified',
            found: [expect.stringContaining('mailroom-ownership=')],
          }),
        },
        dns_provider: { configured: true, name: 'local', zone: 'test' },
        records: ['dkim', 'spf', 'dmarc', 'mx'].map(purpose => expect.objectContaining({ purpose })),
      },
    ])
    await server.call('POST', `/v1/domains/${id}/receiving`)
    const { records: more } = (await server.call('GET', `/v1/domains/${id}/dns`)).json
    expect(more.map((record: { purpose: string }) => record.purpose)).toContain('receiving_identity')
  })

  test('shows no zone for a domain outside of every zone, where no record can be written', async () => {
    const name = 'outside.example'
    server.dns.zone[`_mailroom.${name}`] = {}
    const path = `/v1/domains/ownership?domain=${name}&brand_id=${server.brandId}`
    const { value } = (await server.call('GET', path)).json.ownership.record
    server.dns.zone[`_mailroom.${name}`] = { TXT: [value] }
    const { id } = (await server.call('POST', '/v1/domains', { json: { brand_id: server.brandId, domain: name } })).json
    expect((await server.call('GET', `/v1/domains/${id}/dns`)).json.dns_provider).toEqual({
      configured: true,
      name: 'local',
      zone: null,
    })
    for (const [method, target] of [
      ['GET', records(id)],
      ['POST', `/v1/domains/${id}/publish-dns`],
    ] as const)
      expect(refusalOf(await server.call(method, target))).toEqual([422, 'dns_zone_not_accessible', undefined])
    server.dns.zone[`_mailroom.${name}`] = { behaviour: { rcode: 'SERVFAIL' } }
    expect((await server.call('GET', `/v1/domains/${id}/dns`)).json.ownership).toMatchObject({
      verified: false,
      record: { status: 'unknown', found: [] },
    })
  })
})

test('without a DNS provider only the setup is available', async () => {
  const bare = await openZoneServer({ dnsProvider: null })
  try {
    const id = await bare.register('bare.test')
    expect((await bare.call('GET', `/v1/domains/${id}/dns`)).json.dns_provider).toEqual({
      configured: false,
      name: null,
      zone: null,
    })
    for (const [method, path, json] of [
      ['GET', records(id)],
      ['POST', records(id), { type: 'A', name: 'x', value: '192.0.2.1' }],
      ['PATCH', `${records(id)}/x`, { ttl: 60 }],
      ['DELETE', `${records(id)}/x`],
      ['POST', `/v1/domains/${id}/publish-dns`],
    ] as const)
      expect(refusalOf(await bare.call(method, path, json ? { json } : {}))).toEqual([
        422,
        'dns_provider_not_configured',
        undefined,
      ])
  } finally {
    await bare.close()
  }
})

test("each operation requires its scope and the tenant's own domain", async () => {
  const id = await server.register('scoped.test')
  const { json: record } = await create(id, { type: 'A', name: 'x', value: '192.0.2.1' })
  const otherBrand = await newBrand(server.database.db, server.organizationId)
  const { key: restricted } = await server.newKey({ brandId: otherBrand })
  const { key: stranger } = await server.newKey({ organizationId: await server.newOrganization() })
  const { key: reader } = await server.newKey({ scopes: ['domains:read'] })
  const { key: writer } = await server.newKey({ scopes: ['domains:write'] })
  for (const [method, path, json, scope] of [
    ['GET', `/v1/domains/${id}/dns`, undefined, 'read'],
    ['GET', records(id), undefined, 'read'],
    ['POST', records(id), { type: 'A', name: 'y', value: '192.0.2.1' }, 'write'],
    ['PATCH', `${records(id)}/${record.id}`, { ttl: 60 }, 'write'],
    ['POST', `/v1/domains/${id}/publish-dns`, undefined, 'write'],
    ['DELETE', `${records(id)}/${record.id}`, undefined, 'write'],
  ] as const) {
    const body = json ? { json } : {}
    const statusOf = async (key: string) => {
      const { status, json: response } = await server.call(method, path, { key, ...body })
      return [method, path, status, response.error?.code]
    }
    expect(await statusOf(restricted)).toEqual([method, path, 403, 'brand_restricted'])
    expect(await statusOf(stranger)).toEqual([method, path, 404, 'not_found'])
    expect(await statusOf(scope === 'read' ? writer : reader)).toEqual([method, path, 403, 'insufficient_scope'])
    expect((await statusOf(scope === 'read' ? reader : writer))[3]).toBeUndefined()
  }
})
