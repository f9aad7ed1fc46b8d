import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { managedMark } from '../../../src/domains/dns/record-owner.ts'
import { inMs } from '../../harness/http-server.ts'
import { newBrand } from '../fixtures.ts'
import { openZoneDoor, type ZoneDoor } from './fixtures.ts'

let door: ZoneDoor
beforeAll(async () => {
  door = await openZoneDoor()
})
afterAll(() => door.close())

const records = (id: string) => `/v1/domains/${id}/dns/records`
const create = (id: string, json: object, headers: Record<string, string> = {}) =>
  door.call('POST', records(id), { json, headers })
const patch = (id: string, recordId: string, json: object, headers: Record<string, string> = {}) =>
  door.call('PATCH', `${records(id)}/${recordId}`, { json, headers })
const remove = (id: string, recordId: string, headers: Record<string, string> = {}) =>
  door.call('DELETE', `${records(id)}/${recordId}`, { headers })

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
const code = ({ json }: { json: { error?: { code: string; param?: string } } }) => json.error?.code
const refusalOf = ({ status, json }: { status: number; json: { error: { code: string; param?: string } } }) => [
  status,
  json.error.code,
  json.error.param,
]

test('a record is created, shown, changed and deleted', async () => {
  const id = await door.register('life.test')
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
  expect((await door.call('GET', records(id))).json).toEqual({ data: [created.json], next_cursor: null })

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
  expect(await door.held('life.test')).toEqual([])
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
])('takes %j', async (json, shape) => {
  const { data } = (await door.call('GET', '/v1/domains')).json
  const id =
    data.find((each: { domain: string }) => each.domain === 'kinds.test')?.id ?? (await door.register('kinds.test'))
  const { status, json: body } = await create(id, json)
  expect([status, body]).toMatchObject([201, { ...json, ...shape }])
})

test('a long text is answered by DNS in one piece', async () => {
  const id = await door.register('long.test')
  const value = 'y'.repeat(2000)
  await create(id, { type: 'TXT', name: 'key._domainkey', value })
  expect((await door.held('long.test')).map(existingRecord => existingRecord.value)).toEqual([value])
})

describe('refuses, with the parameter at fault', () => {
  let id: string
  beforeAll(async () => {
    id = await door.register('refused.test')
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

  test('a change of nothing, of the type, to null, or to what the type does not take', async () => {
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

  test('a query that it does not know, and a cursor that is none', async () => {
    expect(refusalOf(await door.call('GET', `${records(id)}?type=A`))).toEqual([400, 'invalid_request', 'type'])
    expect(refusalOf(await door.call('GET', `${records(id)}?cursor=x`))).toEqual([400, 'invalid_cursor', 'cursor'])
    expect(refusalOf(await door.call('GET', `${records(id)}?limit=0`))).toEqual([400, 'invalid_request', 'limit'])
  })
})

describe('records that cannot stand side by side', () => {
  let id: string
  beforeAll(async () => {
    id = await door.register('beside.test')
  })

  test('a CNAME beside others, and others beside a CNAME', async () => {
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
    expect((await door.zone.recordsAt('c.beside.test')).map(existingRecord => existingRecord.type)).toEqual(['CNAME'])
  })

  test('the very same one, whatever its TTL', async () => {
    const json = { type: 'TXT', name: 'same', value: 'x' }
    const first = await create(id, json)
    expect(refusalOf(await create(id, { ...json, ttl: 60 }))).toEqual([409, 'dns_record_conflict', 'name'])
    const other = await create(id, { ...json, value: 'y' })
    expect(refusalOf(await patch(id, other.json.id, { value: 'x' }))).toEqual([409, 'dns_record_conflict', 'name'])
    expect((await patch(id, first.json.id, { value: 'x' })).status).toBe(200)
  })

  test('a mail server beside the word that there is none', async () => {
    const none = { type: 'MX', name: 'mail', value: '.', priority: 0 }
    const some = { type: 'MX', name: 'mail', value: 'mx.example', priority: 1 }
    const { json } = await create(id, none)
    expect(code(await create(id, some))).toBe('dns_record_conflict')
    expect((await patch(id, json.id, { value: 'mx.example' })).status).toBe(200)
    expect(code(await create(id, none))).toBe('dns_record_conflict')
  })
})

describe('what Mailroom manages', () => {
  test('is shown as such, neither changed nor deleted, and left to the user once the domain is gone', async () => {
    const id = await door.register('managed.test')
    const { json } = await door.call('POST', `/v1/domains/${id}/publish-dns`)
    const { data } = (await door.call('GET', records(id))).json
    expect(data).toHaveLength(json.published.length)
    for (const record of data) {
      expect(record.managed_by).toBe('mailroom')
      expect(refusalOf(await patch(id, record.id, { ttl: 60 }))).toEqual([409, 'record_managed', undefined])
      expect(refusalOf(await remove(id, record.id))).toEqual([409, 'record_managed', undefined])
    }
    expect(await door.held('managed.test')).toHaveLength(data.length)
    expect((await door.call('DELETE', `/v1/domains/${id}`)).status).toBe(200)
    const again = await door.register('managed.test')
    expect((await door.call('GET', records(again))).json.data[0].managed_by).toBe('user')
    expect((await remove(again, data[0].id)).status).toBe(200)
  })

  test('is no more once somebody changed it by hand', async () => {
    const id = await door.register('by-hand.test')
    await door.call('POST', `/v1/domains/${id}/publish-dns`)
    const [held] = (await door.zone.recordsAt('_dmarc.by-hand.test')) ?? []
    if (!held) throw new Error('not published')
    await door.zone.update(held.id, { ...held, value: 'v=DMARC1; p=reject' }, held.mark)
    const { data } = (await door.call('GET', records(id))).json
    const dmarc = data.find((each: { name: string }) => each.name === '_dmarc.by-hand.test')
    expect(dmarc.managed_by).toBe('user')
    expect((await patch(id, dmarc.id, { value: 'v=DMARC1; p=quarantine' })).status).toBe(200)
  })
})

test('a record that stands in the zone without our doing is listed, changed and deleted', async () => {
  const id = await door.register('old.test')
  await door.zone.create({ type: 'A', name: 'old.test', value: '192.0.2.7', priority: null, ttlSeconds: 30 }, null)
  const { data } = (await door.call('GET', records(id))).json
  expect(data).toMatchObject([{ name: 'old.test', ttl: 30, managed_by: 'user' }])
  expect((await patch(id, data[0].id, { value: '192.0.2.8' })).json).toMatchObject({ value: '192.0.2.8', ttl: 30 })
  expect((await remove(id, data[0].id)).status).toBe(200)
})

test('the list comes in pages, by name, each record once', async () => {
  const id = await door.register('pages.test')
  for (const n of [3, 1, 2, 5, 4]) await create(id, { type: 'TXT', name: `n${n}`, value: 'x' })
  await create(id, { type: 'TXT', name: 'n3', value: 'y' })
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { json } = await door.call('GET', `${records(id)}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
    expect(json.data.length).toBeLessThanOrEqual(2)
    seen.push(...json.data.map((each: { name: string }) => each.name))
    cursor = json.next_cursor
  } while (cursor !== null)
  expect(seen).toEqual(['n1', 'n2', 'n3', 'n3', 'n4', 'n5'].map(value => `${value}.pages.test`))
})

describe('where ownership', () => {
  const operations = (id: string) =>
    [
      ['GET', records(id)],
      ['POST', records(id), { type: 'A', name: 'x', value: '192.0.2.1' }],
      ['PATCH', `${records(id)}/rec_00000000000000000000000000`, { ttl: 60 }],
      ['DELETE', `${records(id)}/rec_00000000000000000000000000`],
      ['POST', `/v1/domains/${id}/publish-dns`],
    ] as const

  test('is not proven any more, no record is read or written', async () => {
    const id = await door.register('lost.test')
    for (const { id: proof } of await door.zone.recordsAt('_mailroom.lost.test')) await door.zone.remove(proof)
    for (const [method, path, json] of operations(id)) {
      const answer = await door.call(method, path, json ? { json } : {})
      expect([method, ...refusalOf(answer)]).toEqual([method, 422, 'ownership_not_verified', undefined])
    }
    expect(await door.held('lost.test')).toEqual([])
    expect((await door.call('GET', `/v1/domains/${id}`)).json.ownership_verified).toBe(false)
  })

  test('cannot be looked up, that is said and may be tried again', async () => {
    const id = await door.register('dark.test')
    const [proof] = await door.zone.recordsAt('_mailroom.dark.test')
    if (!proof) throw new Error('no proof')
    const away = { type: 'CNAME', name: proof.name, value: '_mailroom.dark.example' } as const
    await door.zone.update(proof.id, { ...proof, ...away }, null)
    door.dns.zone['_mailroom.dark.example'] = { behaviour: { rcode: 'SERVFAIL' } }
    for (const [method, path, json] of operations(id)) {
      const answer = await door.call(method, path, json ? { json } : {})
      expect([method, ...refusalOf(answer)]).toEqual([method, 500, 'dns_unavailable', undefined])
      expect(answer.json.error.retryable).toBe(true)
    }
    expect((await door.call('GET', `/v1/domains/${id}`)).json.ownership_verified).toBe(true)
  })
})

describe('with an Idempotency-Key', () => {
  const cutOff = () => Promise.reject(new Error('the connection was lost'))

  test('a creation whose end was cut off is taken up, and makes one record', async () => {
    const id = await door.register('cut-create.test')
    const json = { type: 'TXT', name: 'x', value: 'once' }
    const headers = { 'idempotency-key': 'cut-create-1' }
    door.interrupt({ when: 'after', write: 'create', happens: cutOff })
    const failed = await create(id, json, headers)
    expect(refusalOf(failed)).toEqual([500, 'dns_provider_error', undefined])
    expect(failed.json.error.retryable).toBe(true)
    expect(failed.text).not.toContain('connection was lost')
    expect(door.logged.join('')).toContain('connection was lost')
    const made = await create(id, json, headers)
    expect(made.status).toBe(201)
    expect(await door.held('cut-create.test')).toHaveLength(1)
    const again = await create(id, json, headers)
    expect([again.json, again.headers.get('idempotent-replay')]).toEqual([made.json, 'true'])
    await door.database.db.deleteFrom('idempotency_keys').execute()
    expect((await create(id, json, headers)).json).toEqual(made.json)
    expect(code(await create(id, json, { 'idempotency-key': 'cut-create-2' }))).toBe('dns_record_conflict')
    expect(code(await create(id, json))).toBe('dns_record_conflict')
    expect(await door.held('cut-create.test')).toHaveLength(1)
  })

  test('a change whose end was cut off is taken up', async () => {
    const id = await door.register('cut-change.test')
    const { json } = await create(id, { type: 'TXT', name: 'x', value: '1' })
    const headers = { 'idempotency-key': 'cut-change-1' }
    door.interrupt({ when: 'after', write: 'update', happens: cutOff })
    expect(code(await patch(id, json.id, { name: 'y', value: '2' }, headers))).toBe('dns_provider_error')
    const changed = await patch(id, json.id, { name: 'y', value: '2' }, headers)
    expect([changed.status, changed.json]).toMatchObject([200, { id: json.id, name: 'y.cut-change.test', value: '2' }])
    expect(await door.held('cut-change.test')).toHaveLength(1)
  })

  test('a deletion whose end was cut off is taken up, by the same key and for the same record only', async () => {
    const id = await door.register('cut-delete.test')
    const { json } = await create(id, { type: 'TXT', name: 'x', value: '1' })
    const headers = { 'idempotency-key': 'cut-delete-1' }
    door.interrupt({ when: 'after', write: 'remove', happens: cutOff })
    expect(code(await remove(id, json.id, headers))).toBe('dns_provider_error')
    expect(code(await remove(id, json.id, { 'idempotency-key': 'cut-delete-2' }))).toBe('not_found')
    expect(code(await remove(id, json.id))).toBe('not_found')
    expect(code(await remove(id, 'rec_00000000000000000000000000', headers))).toBe('not_found')
    const removed = await remove(id, json.id, headers)
    expect([removed.status, removed.json]).toEqual([200, { id: json.id, deleted: true }])
    expect((await remove(id, json.id, headers)).headers.get('idempotent-replay')).toBe('true')
    expect(await door.database.db.selectFrom('dns_removals').selectAll().execute()).toEqual([])
  })

  test('deletions that never ended are forgotten after two days', async () => {
    const id = await door.register('forgotten.test')
    const { db } = door.database
    const old = {
      organization_id: door.organizationId,
      idempotency_key: 'never-ended',
      record_id: 'rec_00000000000000000000000000',
    } as const
    await db
      .insertInto('dns_removals')
      .values({ ...old, created_at: inMs(door.clock, -49 * 60 * 60 * 1000) })
      .execute()
    const { json } = await create(id, { type: 'TXT', name: 'x', value: '1' })
    await remove(id, json.id, { 'idempotency-key': 'ends-at-once' })
    expect(await db.selectFrom('dns_removals').selectAll().execute()).toEqual([])
  })

  test('several at once make one record', async () => {
    const id = await door.register('at-once.test')
    const json = { type: 'A', name: 'x', value: '192.0.2.1' }
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => create(id, json, { 'idempotency-key': 'records-at-once' })),
    )
    expect(answers.every(answer => answer.status === 201 || code(answer) === 'idempotency_in_progress')).toBe(true)
    expect(await door.held('at-once.test')).toHaveLength(1)
  })
})

describe('publish-dns', () => {
  const publish = (id: string) => door.call('POST', `/v1/domains/${id}/publish-dns`)

  test('publishes once what sending needs, and never MX', async () => {
    const id = await door.register('publish.test')
    await door.call('POST', `/v1/domains/${id}/receiving`)
    const first = await publish(id)
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ domain_id: id, unchanged: [], conflicts: [] })
    const purposes = first.json.published.map((each: { purpose: string }) => each.purpose)
    expect(purposes.toSorted()).toEqual(['dkim', 'dmarc', 'receiving_identity', 'spf'])
    expect(first.json.published.every((each: { status: string }) => each.status === 'verified')).toBe(true)
    const held = await door.held('publish.test')
    expect(held.map(existingRecord => existingRecord.type)).not.toContain('MX')
    expect((await door.call('GET', `/v1/domains/${id}`)).json).toMatchObject({
      ready_to_send: true,
      receiving: { next_step: 'mx' },
    })
    const again = await publish(id)
    expect(again.json).toEqual({ domain_id: id, published: [], unchanged: first.json.published, conflicts: [] })
    expect(await door.held('publish.test')).toEqual(held)
  })

  test('leaves what somebody else made, and says so', async () => {
    const id = await door.register('conflict.test')
    const txt = { type: 'TXT', priority: null, ttlSeconds: 300 } as const
    await door.zone.create({ ...txt, name: 'conflict.test', value: 'v=spf1 -all' }, null)
    await door.zone.create({ ...txt, type: 'CNAME', name: '_dmarc.conflict.test', value: 'dmarc.example' }, null)
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
    expect(await door.held('conflict.test')).toHaveLength(3)
  })

  test('brings up to date what Mailroom published before, unless somebody changed it by hand', async () => {
    const id = await door.register('outdated.test')
    await publish(id)
    const { db } = door.database
    const older = 'v=spf1 include:spf.old.example ~all'
    const [spf] = await door.zone.recordsAt('outdated.test')
    if (!spf) throw new Error('no SPF')
    await door.zone.update(
      spf.id,
      { ...spf, value: older },
      managedMark(id as `dom_${string}`, { ...spf, value: older }),
    )
    expect((await publish(id)).json.published).toMatchObject([{ purpose: 'spf', status: 'verified' }])
    expect((await door.zone.recordsAt('outdated.test')).map(existingRecord => existingRecord.value)).toEqual([
      'v=spf1 include:spf.relay.example ~all',
    ])
    await door.zone.update(spf.id, { ...spf, value: 'v=spf1 mx -all' }, spf.mark)
    expect((await publish(id)).json.conflicts).toMatchObject([{ existing: [{ value: 'v=spf1 mx -all' }] }])
    expect(
      (await db.selectFrom('local_records').select('id').where('name', '=', 'outdated.test').execute()).length,
    ).toBe(1)
  })

  test('takes up what a failure of the provider left undone', async () => {
    const id = await door.register('half.test')
    door.interrupt({ when: 'before', write: 'create', happens: () => Promise.reject(new Error('locked')) })
    expect(refusalOf(await publish(id))).toEqual([500, 'dns_provider_error', undefined])
    expect((await publish(id)).json).toMatchObject({ conflicts: [] })
    expect(await door.held('half.test')).toHaveLength(3)
  })
})

describe('the DNS setup', () => {
  test('tells ownership, the provider and all records', async () => {
    const id = await door.register('setup.test')
    const { status, json } = await door.call('GET', `/v1/domains/${id}/dns`)
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
    await door.call('POST', `/v1/domains/${id}/receiving`)
    const { records: more } = (await door.call('GET', `/v1/domains/${id}/dns`)).json
    expect(more.map((each: { purpose: string }) => each.purpose)).toContain('receiving_identity')
  })

  test('tells of a domain outside of every zone that there is none, where no record can be written', async () => {
    const name = 'outside.example'
    door.dns.zone[`_mailroom.${name}`] = {}
    const path = `/v1/domains/ownership?domain=${name}&brand_id=${door.brandId}`
    const { value } = (await door.call('GET', path)).json.ownership.record
    door.dns.zone[`_mailroom.${name}`] = { TXT: [value] }
    const { id } = (await door.call('POST', '/v1/domains', { json: { brand_id: door.brandId, domain: name } })).json
    expect((await door.call('GET', `/v1/domains/${id}/dns`)).json.dns_provider).toEqual({
      configured: true,
      name: 'local',
      zone: null,
    })
    for (const [method, target] of [
      ['GET', records(id)],
      ['POST', `/v1/domains/${id}/publish-dns`],
    ] as const)
      expect(refusalOf(await door.call(method, target))).toEqual([422, 'dns_zone_not_accessible', undefined])
    door.dns.zone[`_mailroom.${name}`] = { behaviour: { rcode: 'SERVFAIL' } }
    expect((await door.call('GET', `/v1/domains/${id}/dns`)).json.ownership).toMatchObject({
      verified: false,
      record: { status: 'unknown', found: [] },
    })
  })
})

test('without a DNS provider only the setup is told', async () => {
  const bare = await openZoneDoor({ dnsProvider: null })
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

test('each operation knows its scope, and whose the domain is', async () => {
  const id = await door.register('scoped.test')
  const { json: record } = await create(id, { type: 'A', name: 'x', value: '192.0.2.1' })
  const otherBrand = await newBrand(door.database.db, door.organizationId)
  const { key: restricted } = await door.newKey({ brandId: otherBrand })
  const { key: stranger } = await door.newKey({ organizationId: await door.newOrganization() })
  const { key: reader } = await door.newKey({ scopes: ['domains:read'] })
  const { key: writer } = await door.newKey({ scopes: ['domains:write'] })
  for (const [method, path, json, scope] of [
    ['GET', `/v1/domains/${id}/dns`, undefined, 'read'],
    ['GET', records(id), undefined, 'read'],
    ['POST', records(id), { type: 'A', name: 'y', value: '192.0.2.1' }, 'write'],
    ['PATCH', `${records(id)}/${record.id}`, { ttl: 60 }, 'write'],
    ['POST', `/v1/domains/${id}/publish-dns`, undefined, 'write'],
    ['DELETE', `${records(id)}/${record.id}`, undefined, 'write'],
  ] as const) {
    const body = json ? { json } : {}
    const asked = async (key: string) => {
      const { status, json: answer } = await door.call(method, path, { key, ...body })
      return [method, path, status, answer.error?.code]
    }
    expect(await asked(restricted)).toEqual([method, path, 403, 'brand_restricted'])
    expect(await asked(stranger)).toEqual([method, path, 404, 'not_found'])
    expect(await asked(scope === 'read' ? writer : reader)).toEqual([method, path, 403, 'insufficient_scope'])
    expect((await asked(scope === 'read' ? reader : writer))[3]).toBeUndefined()
  }
})
