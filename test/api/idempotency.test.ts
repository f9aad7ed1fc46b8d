import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import pino from 'pino'
import { fingerprintOf, openIdempotencyKeys } from '../../src/api/idempotency/idempotency-keys.ts'
import {
  deleteExpiredResponses,
  renewReservations,
  reserveKeys,
  storeResponses,
} from '../../src/api/idempotency/store.ts'
import type { Scope } from '../../src/api/scope.ts'
import { plusMs } from '../../src/base/clock.ts'
import { type Id, newId } from '../../src/base/ids.ts'
import { type CallResult, openTestHttpServer, type TestHttpServer } from '../harness/http-server.ts'
import { probeRoutes } from '../servers/http/probe-routes.ts'

let door: TestHttpServer
const work: { runs: number; pause?: () => Promise<void> } = { runs: 0 }
let key = ''
let count = 0

beforeAll(async () => {
  door = await openTestHttpServer({ features: ({ database, clock }) => [probeRoutes(database.db, clock, work)] })
})
afterAll(() => door.close())
beforeEach(() => {
  key = `test-key-${++count}`
  delete work.pause
})

function post(path: string, json: object = {}, apiKey?: string): Promise<CallResult> {
  return door.call('POST', path, {
    json,
    headers: { 'idempotency-key': key },
    ...(apiKey === undefined ? {} : { key: apiKey }),
  })
}

for (const [who, path, json] of [
  ['the door', '/v1/probe', { subject: 'a' }],
  ['the work', '/v1/probe/stored', {}],
] as const) {
  test(`does the work once for 50 identical requests at once, when ${who} keeps the answer`, async () => {
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
  const { key: otherKey } = await door.newKey()
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
    door.call(more.method ?? 'POST', more.path ?? '/v1/probe/stored', {
      body: more.body ?? '{}',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      ...(more.key === undefined ? {} : { key: more.key }),
    })
  const expectOther = (called: CallResult) =>
    expect([called.status, called.json.error.code]).toEqual([400, 'idempotency_key_reused'])
  const setKey = (id: string, change: { scopes?: string; brand_id?: Id<'brd'> | null }) =>
    door.database.db
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
    expectOther(await send({ path: '/v1/probe/stored/' }))
  })

  test('its query', async () => {
    await send({ path: '/v1/probe', body: '{"subject":"a"}' })
    expectOther(await send({ path: '/v1/probe?flag=1', body: '{"subject":"a"}' }))
    expectOther(await send({ path: '/v1/probe?', body: '{"subject":"a"}' }))
  })

  test('its key, though of the same organization and scopes', async () => {
    await send()
    expectOther(await send({ key: (await door.newKey()).key }))
  })

  test('the scopes of its key, in whatever order they are written', async () => {
    const own = await door.newKey({ scopes: ['email:send', 'inbox:read'] })
    await send({ key: own.key })
    await setKey(own.id, { scopes: 'inbox:read email:send' })
    expect((await send({ key: own.key })).headers.get('idempotent-replay')).toBe('true')
    await setKey(own.id, { scopes: 'email:send' })
    expectOther(await send({ key: own.key }))
  })

  test('the brand of its key', async () => {
    const brand = await door.call('POST', '/v1/brands', { json: { name: 'Same', slug: 'sameness' } })
    const own = await door.newKey({ scopes: ['email:send'] })
    await send({ key: own.key })
    await setKey(own.id, { brand_id: brand.json.id })
    expectOther(await send({ key: own.key }))
    await setKey(own.id, { brand_id: null })
    expect((await send({ key: own.key })).headers.get('idempotent-replay')).toBe('true')
  })
})

test('keeps the keys of organizations apart', async () => {
  await post('/v1/probe', { subject: 'a' })
  const { key: otherKey } = await door.newKey({ organizationId: await door.newOrganization() })
  const called = await post('/v1/probe', { subject: 'a' }, otherKey)
  expect([called.status, called.headers.get('idempotent-replay')]).toEqual([201, null])
})

test('keeps only success: anything else frees the key', async () => {
  expect((await post('/v1/probe/fails')).status).toBe(500)
  expect((await post('/v1/brands/brd_none/provision')).status).toBe(404)
  await door.call('POST', '/v1/brands', { json: { name: 'Taken', slug: 'taken' } })
  expect((await post('/v1/brands', { name: 'Taken', slug: 'taken' })).status).toBe(409)
  expect((await post('/v1/probe', { subject: 'a' })).status).toBe(201)
})

test('takes keys of 8 to 255 characters', async () => {
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

test('refuses a key where the operation does not take one, and passes over it on GET', async () => {
  expect((await post('/v1/probe/refuses-keys')).json.error.code).toBe('idempotency_not_supported')
  expect((await door.call('POST', '/v1/probe/refuses-keys')).status).toBe(200)
  expect((await door.call('GET', '/v1/brands', { headers: { 'idempotency-key': 'x' } })).status).toBe(200)
})

test('asks for the scope and the key before it replays', async () => {
  const { id, key: own } = await door.newKey()
  expect((await post('/v1/probe', { subject: 'a' }, own)).status).toBe(201)
  const { revokeKey } = await import('../../src/accounts/keys/keys.ts')
  await revokeKey(door.database.db, id, door.clock)
  expect((await post('/v1/probe', { subject: 'a' }, own)).status).toBe(401)
})

/** What a process that died left behind: a key held, and no answer. */
async function leaveBehind(): Promise<void> {
  const fingerprint = Buffer.alloc(32)
  await reserveKeys(door.database.db, [{ organizationId: door.organizationId, key, fingerprint }], door.clock)
  const { db } = door.database
  const row = await db
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('idempotency_key', '=', key)
    .executeTakeFirstOrThrow()
  const [keyRow] = await db
    .selectFrom('api_keys')
    .select(['id', 'scopes'])
    .where('id', '=', `key_${door.key.slice(4, 30)}`)
    .execute()
  if (!keyRow) throw new Error('no key')
  const same = fingerprintOf({
    caller: {
      keyId: keyRow.id,
      organizationId: door.organizationId,
      brandId: null,
      scopes: new Set(keyRow.scopes.split(' ') as never[]),
    },
    method: 'POST',
    target: '/v1/probe/stored',
    body: Buffer.from('{}'),
  })
  await db.updateTable('idempotency_keys').set({ fingerprint: same }).where('token', '=', row.token).execute()
}

test('lets a retry in once the lease of a dead process has run out, and not before', async () => {
  await leaveBehind()
  const before = work.runs
  expect((await post('/v1/probe/stored')).json.error.code).toBe('idempotency_in_progress')
  door.clock.forward(61_000)
  const retried = await post('/v1/probe/stored')
  expect([retried.status, work.runs]).toEqual([200, before + 1])
  expect((await post('/v1/probe/stored')).headers.get('idempotent-replay')).toBe('true')
})

test('rolls the work back when its key was taken over meanwhile', async () => {
  const { db } = door.database
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
  door.clock.forward(61_000)
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

test('holds a key for as long as it is renewed', async () => {
  const { db } = door.database
  const ask = { organizationId: door.organizationId, key, fingerprint: Buffer.alloc(32) }
  const [claim] = await reserveKeys(db, [ask], door.clock)
  if (claim?.kind !== 'held') throw new Error('not held')
  for (let i = 0; i < 3; i++) {
    door.clock.forward(40_000)
    await renewReservations(db, [claim.reservation], door.clock)
    expect((await reserveKeys(db, [ask], door.clock))[0]?.kind).toBe('in-flight')
  }
})

test('renews the key of a request for as long as it works', async () => {
  const { db } = door.database
  const { organizationId, clock } = door
  const heldKeys = openIdempotencyKeys(db, clock, pino({ level: 'silent' }), 20)
  const caller = { keyId: newId('key'), organizationId, brandId: null, scopes: new Set<Scope>() }
  const same = { caller, method: 'POST', target: '/v1/x', body: new Uint8Array(0) }
  const leasedUntil = async () => {
    const row = await db
      .selectFrom('idempotency_keys')
      .select('leased_until')
      .where('idempotency_key', '=', key)
      .executeTakeFirstOrThrow()
    return row.leased_until
  }
  const reservation = await heldKeys.reserve(key, same)
  if (!('token' in reservation)) throw new Error('not held')
  for (let i = 0; i < 3; i++) {
    door.clock.forward(50_000)
    const due = plusMs(clock.now(), 55_000)
    for (const end = Date.now() + 5000; (await leasedUntil()) < due && Date.now() < end; ) await Bun.sleep(5)
    expect((await leasedUntil()) > due).toBe(true)
    await expect(heldKeys.reserve(key, same)).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  }
  await heldKeys.settle(reservation, 409, () => Promise.resolve(''))
  expect(await heldKeys.reserve(key, same)).toMatchObject({ key })
  heldKeys.close()
})

test('gives one of several asks for the same key in one batch the key', async () => {
  const ask = { organizationId: door.organizationId, key, fingerprint: Buffer.alloc(32) }
  const other = { ...ask, fingerprint: Buffer.alloc(32, 1) }
  const claims = await reserveKeys(door.database.db, [ask, ask, other, ask], door.clock)
  expect(claims.map(claim => claim.kind)).toEqual(['held', 'in-flight', 'reused', 'in-flight'])
})

test('stores many answers in one statement, and says which ones no longer hold their key', async () => {
  const { db } = door.database
  const asks = [1, 2, 3].map(n => ({
    organizationId: door.organizationId,
    key: `${key}-${n}`,
    fingerprint: Buffer.alloc(32, n),
  }))
  const held = (await reserveKeys(db, asks, door.clock)).map(reserveKey => {
    if (reserveKey.kind !== 'held') throw new Error('not held')
    return reserveKey.reservation
  })
  const lost = { ...held[1], token: 'x'.repeat(26) } as (typeof held)[number]
  const answers = [held[0], lost, held[2]].map((reservation, i) => ({
    reservation: reservation as (typeof held)[number],
    status: 202,
    body: `{"n":${i}}`,
    at: door.clock.now(),
  }))
  expect(await storeResponses(db, answers)).toEqual([true, false, true])
  const claims = await reserveKeys(db, asks, door.clock)
  expect(claims).toEqual([
    { kind: 'answered', answer: { status: 202, body: '{"n":0}' } },
    { kind: 'in-flight' },
    { kind: 'answered', answer: { status: 202, body: '{"n":2}' } },
  ])
})

test('forgets an answer after 24 hours', async () => {
  expect((await post('/v1/probe', { subject: 'a' })).status).toBe(201)
  door.clock.forward(24 * 60 * 60 * 1000 - 60_000)
  expect((await post('/v1/probe', { subject: 'a' })).headers.get('idempotent-replay')).toBe('true')
  door.clock.forward(60_000)
  const again = await post('/v1/probe', { subject: 'b' })
  expect([again.status, again.headers.get('idempotent-replay')]).toEqual([201, null])
  door.clock.forward(25 * 60 * 60 * 1000)
  expect(await deleteExpiredResponses(door.database.db, door.clock, 1000)).toBeGreaterThan(5)
  expect(await deleteExpiredResponses(door.database.db, door.clock, 1000)).toBe(0)
})
