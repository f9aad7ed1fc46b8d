import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { fingerprintOf } from '../../src/api/idempotency/fingerprint.ts'
import { openIdempotencyKeys } from '../../src/api/idempotency/idempotency-keys.ts'
import { renewReservations, reserveKeys } from '../../src/api/idempotency/reserve.ts'
import { deleteExpiredResponses, storeResponses } from '../../src/api/idempotency/store.ts'
import type { Scope } from '../../src/api/scope.ts'
import { plusMs } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { type CallResult, openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'
import { until } from '../harness/until.ts'
import { probeRoutes } from '../servers/http/probe-routes.ts'

let server: TestHttpServer
const work: { runs: number; pause?: () => Promise<void> } = { runs: 0 }
let key = ''
let count = 0

beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database, clock }) => [probeRoutes(database.db, clock, work)] })
})
afterAll(() => server.close())
beforeEach(() => {
  key = `test-key-${++count}`
  delete work.pause
})

function post(path: string, json: object = {}, apiKey?: string): Promise<CallResult> {
  return server.call('POST', path, {
    json,
    headers: { 'idempotency-key': key },
    ...(apiKey === undefined ? {} : { key: apiKey }),
  })
}

for (const [who, path, json] of [
  ['the server', '/v1/probe', { subject: 'a' }],
  ['the work', '/v1/probe/stored', {}],
] as const) {
  test(`does the work once for 50 identical requests at once, when ${who} stores the response`, async () => {
    // Long enough for all of the requests to arrive while the first is in progress.
    work.pause = () => Bun.sleep(50)
    const before = work.runs
    const calls = await Promise.all(Array.from({ length: 50 }, () => post(path, json)))
    expect(work.runs).toBe(before + 1)
    const done = calls.filter(call => call.status < 300)
    const first = done.filter(callResult => !callResult.headers.has('idempotent-replay'))
    expect(first.length).toBe(1)
    for (const callResult of done) expect(callResult.text).toBe(first[0]?.text ?? '')
    for (const call of calls.filter(callResult => callResult.status >= 300)) {
      expect([call.status, call.json.error.code]).toEqual([429, 'idempotency_in_progress'])
      expect(call.headers.get('retry-after')).toBe('1')
    }
    const replayed = await post(path, json)
    expect(replayed.headers.get('idempotent-replay')).toBe('true')
    expect([replayed.status, replayed.text]).toEqual([first[0]?.status ?? 0, first[0]?.text ?? ''])
    expect(replayed.headers.get('content-type')).toBe(first[0]?.headers.get('content-type') ?? '')
    expect(replayed.headers.get('x-request-id')).not.toBe(first[0]?.headers.get('x-request-id'))
    expect(work.runs).toBe(before + 1)
  })
}

test('refuses the same key for another request', async () => {
  expect((await post('/v1/probe', { subject: 'a' })).status).toBe(201)
  const { key: otherKey } = await server.newKey()
  for (const called of [
    await post('/v1/probe', { subject: 'b' }),
    await post('/v1/probe?flag=1', { subject: 'a' }),
    await post('/v1/probe/stored'),
    await post('/v1/probe', { subject: 'a' }, otherKey),
  ])
    expect([called.status, called.json.error.code]).toEqual([400, 'idempotency_key_reused'])
  expect((await post('/v1/probe', { subject: 'a' })).headers.get('idempotent-replay')).toBe('true')
})

describe('every part of a request makes it another request:', () => {
  const send = (more: { method?: string; path?: string; body?: string; key?: string } = {}) =>
    server.call(more.method ?? 'POST', more.path ?? '/v1/probe/stored', {
      body: more.body ?? '{}',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      ...(more.key === undefined ? {} : { key: more.key }),
    })
  const expectOther = (called: CallResult) =>
    expect([called.status, called.json.error.code]).toEqual([400, 'idempotency_key_reused'])
  const setKey = (id: string, change: { scopes?: string; brand_id?: Id<'brd'> | null }) =>
    server.database.db
      .updateTable('api_keys')
      .set(change)
      .where('id', '=', id as Id<'key'>)
      .execute()

  test('its body, to the byte', async () => {
    await send()
    for (const body of ['{} ', ' {}', '{ }', '']) expectOther(await send({ body }))
    expect((await send()).headers.get('idempotent-replay')).toBe('true')
  })

  test('its method', async () => {
    await send({ path: '/v1/probe', body: '{"subject":"a"}' })
    expectOther(await send({ path: '/v1/probe', method: 'PATCH', body: '{"name":"a"}' }))
    expectOther(await send({ path: '/v1/probe', method: 'DELETE', body: '' }))
  })

  test('its path', async () => {
    await send()
    expectOther(await send({ path: '/v1/probe', body: '{"subject":"a"}' }))
  })

  test('its query', async () => {
    await send({ path: '/v1/probe', body: '{"subject":"a"}' })
    expectOther(await send({ path: '/v1/probe?flag=1', body: '{"subject":"a"}' }))
    expectOther(await send({ path: '/v1/probe?', body: '{"subject":"a"}' }))
  })

  test('its key, though of the same organization and scopes', async () => {
    await send()
    expectOther(await send({ key: (await server.newKey()).key }))
  })

  test('the scopes of its key, in whatever order they are written', async () => {
    const own = await server.newKey({ scopes: ['email:send', 'inbox:read'] })
    await send({ key: own.key })
    await setKey(own.id, { scopes: 'inbox:read email:send' })
    expect((await send({ key: own.key })).headers.get('idempotent-replay')).toBe('true')
    await setKey(own.id, { scopes: 'email:send' })
    expectOther(await send({ key: own.key }))
  })

  test('the brand of its key', async () => {
    const brand = await server.call('POST', '/v1/brands', { json: { name: 'Same', slug: 'sameness' } })
    const own = await server.newKey({ scopes: ['email:send'] })
    await send({ key: own.key })
    await setKey(own.id, { brand_id: brand.json.id })
    expectOther(await send({ key: own.key }))
    await setKey(own.id, { brand_id: null })
    expect((await send({ key: own.key })).headers.get('idempotent-replay')).toBe('true')
  })
})

test('keeps the keys of organizations apart', async () => {
  await post('/v1/probe', { subject: 'a' })
  const { key: otherKey } = await server.newKey({ organizationId: await server.newOrganization() })
  const called = await post('/v1/probe', { subject: 'a' }, otherKey)
  expect([called.status, called.headers.get('idempotent-replay')]).toEqual([201, null])
})

test('stores only success: any other response frees the key', async () => {
  expect((await post('/v1/probe/fails')).status).toBe(500)
  expect((await post('/v1/brands/brd_none/provision')).status).toBe(404)
  await server.call('POST', '/v1/brands', { json: { name: 'Taken', slug: 'taken' } })
  expect((await post('/v1/brands', { name: 'Taken', slug: 'taken' })).status).toBe(409)
  expect((await post('/v1/probe', { subject: 'a' })).status).toBe(201)
})

test('accepts keys of 8 to 255 characters', async () => {
  for (const [length, status] of [
    [7, 400],
    [8, 201],
    [255, 201],
    [256, 400],
  ] as const) {
    key = 'k'.repeat(length)
    const called = await post('/v1/probe', { subject: 'a' })
    expect([length, called.status]).toEqual([length, status])
    if (status === 400) expect(called.json.error.code).toBe('idempotency_key_invalid')
  }
})

test('refuses a key where the operation does not accept one, and ignores it on GET', async () => {
  expect((await post('/v1/probe/refuses-keys')).json.error.code).toBe('idempotency_not_supported')
  expect((await server.call('POST', '/v1/probe/refuses-keys')).status).toBe(200)
  expect((await server.call('GET', '/v1/brands', { headers: { 'idempotency-key': 'x' } })).status).toBe(200)
})

test('checks the API key before it replays a response', async () => {
  const { id, key: own } = await server.newKey()
  expect((await post('/v1/probe', { subject: 'a' }, own)).status).toBe(201)
  const { revokeKey } = await import('../../src/accounts/keys/keys.ts')
  await revokeKey(server.database.db, id, server.clock)
  expect((await post('/v1/probe', { subject: 'a' }, own)).status).toBe(401)
})

/** What a process that died leaves behind: a reserved key without a response. */
async function reserveAndDie(): Promise<void> {
  const fingerprint = Buffer.alloc(32)
  await reserveKeys(server.database.db, [{ organizationId: server.organizationId, key, fingerprint }], server.clock)
  const { db } = server.database
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('idempotency_key', '=', key)
    .executeTakeFirstOrThrow()
  const [keyRow] = await db
    .selectFrom('api_keys')
    .select(['id', 'scopes'])
    .where('id', '=', `key_${server.key.slice(4, 30)}`)
    .execute()
  if (!keyRow) throw new Error('no key')
  const same = fingerprintOf({
    caller: {
      keyId: keyRow.id,
      memberId: null,
      organizationId: server.organizationId,
      brandId: null,
      scopes: new Set(keyRow.scopes.split(' ') as never[]),
    },
    method: 'POST',
    target: '/v1/probe/stored',
    body: Buffer.from('{}'),
  })
  await db.updateTable('idempotency_keys').set({ fingerprint: same }).where('token', '=', row.token).execute()
}

test('accepts a retry once the lease of a dead process has run out, and not before', async () => {
  await reserveAndDie()
  const before = work.runs
  expect((await post('/v1/probe/stored')).json.error.code).toBe('idempotency_in_progress')
  server.clock.forward(61_000)
  const retried = await post('/v1/probe/stored')
  expect([retried.status, work.runs]).toEqual([200, before + 1])
  expect((await post('/v1/probe/stored')).headers.get('idempotent-replay')).toBe('true')
})

test('rolls the work back when its key was taken over meanwhile', async () => {
  const { db } = server.database
  let release = () => {}
  const started = new Promise<void>(resolve => {
    work.pause = () => {
      resolve()
      return new Promise<void>(go => {
        release = go
      })
    }
  })
  const slow = post('/v1/probe/stored')
  await started
  const slowRun = work.runs
  delete work.pause
  server.clock.forward(61_000)
  const second = await post('/v1/probe/stored')
  expect(second.status).toBe(200)
  release()
  const late = await slow
  expect([late.status, late.json.error.code]).toEqual([429, 'idempotency_in_progress'])
  const rows = await db
    .selectFrom('brands')
    .select('slug')
    .where('slug', 'in', [`run-${slowRun}`, `run-${slowRun + 1}`])
    .execute()
  expect(rows.map(row => row.slug)).toEqual([`run-${slowRun + 1}`])
  const replayed = await post('/v1/probe/stored')
  expect([replayed.status, replayed.text]).toEqual([200, second.text])
})

test('keeps a key reserved for as long as it is renewed', async () => {
  const { db } = server.database
  const request = { organizationId: server.organizationId, key, fingerprint: Buffer.alloc(32) }
  const [result] = await reserveKeys(db, [request], server.clock)
  if (result?.kind !== 'reserved') throw new Error('not reserved')
  for (let i = 0; i < 3; i++) {
    server.clock.forward(40_000)
    await renewReservations(db, [result.reservation], server.clock)
    expect((await reserveKeys(db, [request], server.clock))[0]?.kind).toBe('in-progress')
  }
})

test('renews the key of a request for as long as the request is in flight', async () => {
  const { db } = server.database
  const { organizationId, clock } = server
  const idempotencyKeys = openIdempotencyKeys(db, clock, pino({ level: 'silent' }), 20)
  const caller = { keyId: newId('key'), memberId: null, organizationId, brandId: null, scopes: new Set<Scope>() }
  const same = { caller, method: 'POST', target: '/v1/x', body: new Uint8Array(0) }
  const leasedUntil = async () => {
    const row = await db
      .selectFrom('idempotency_keys')
      .select('leased_until')
      .where('idempotency_key', '=', key)
      .executeTakeFirstOrThrow()
    return row.leased_until
  }
  const reservation = await idempotencyKeys.reserve(key, same)
  if (!('token' in reservation)) throw new Error('not reserved')
  for (let i = 0; i < 3; i++) {
    server.clock.forward(50_000)
    const due = plusMs(clock.now(), 55_000)
    await until(async () => (await leasedUntil()) > due)
    await expect(idempotencyKeys.reserve(key, same)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  }
  await idempotencyKeys.settle(reservation, 409, () => Promise.resolve(''))
  expect(await idempotencyKeys.reserve(key, same)).toMatchObject({ key })
  idempotencyKeys.close()
})

test('reserves a key once when several requests in one batch want it', async () => {
  const request = { organizationId: server.organizationId, key, fingerprint: Buffer.alloc(32) }
  const other = { ...request, fingerprint: Buffer.alloc(32, 1) }
  const results = await reserveKeys(server.database.db, [request, request, other, request], server.clock)
  expect(results.map(result => result.kind)).toEqual(['reserved', 'in-progress', 'reused', 'in-progress'])
})

test('stores many responses in one statement, and reports which requests have lost their key', async () => {
  const { db } = server.database
  const requests = [1, 2, 3].map(n => ({
    organizationId: server.organizationId,
    key: `${key}-${n}`,
    fingerprint: Buffer.alloc(32, n),
  }))
  const reserved = (await reserveKeys(db, requests, server.clock)).map(result => {
    if (result.kind !== 'reserved') throw new Error('not reserved')
    return result.reservation
  })
  const lost = { ...reserved[1], token: 'x'.repeat(26) } as (typeof reserved)[number]
  const responses = [reserved[0], lost, reserved[2]].map((reservation, i) => ({
    reservation: reservation as (typeof reserved)[number],
    status: 202,
    body: `{"n":${i}}`,
  }))
  expect(await storeResponses(db, responses)).toEqual([true, false, true])
  const results = await reserveKeys(db, requests, server.clock)
  expect(results).toEqual([
    { kind: 'completed', response: { status: 202, body: '{"n":0}' } },
    { kind: 'in-progress' },
    { kind: 'completed', response: { status: 202, body: '{"n":2}' } },
  ])
})

test('forgets a response after 24 hours', async () => {
  expect((await post('/v1/probe', { subject: 'a' })).status).toBe(201)
  server.clock.forward(24 * 60 * 60 * 1000 - 60_000)
  expect((await post('/v1/probe', { subject: 'a' })).headers.get('idempotent-replay')).toBe('true')
  server.clock.forward(60_000)
  const again = await post('/v1/probe', { subject: 'b' })
  expect([again.status, again.headers.get('idempotent-replay')]).toEqual([201, null])
  server.clock.forward(25 * 60 * 60 * 1000)
  expect(await deleteExpiredResponses(server.database.db, server.clock, 1000)).toBeGreaterThan(5)
  expect(await deleteExpiredResponses(server.database.db, server.clock, 1000)).toBe(0)
})
