import { afterAll, beforeAll, expect, test } from 'bun:test'
import { inMs, openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { probeRoutes } from './probe-routes.ts'

let server: TestHttpServer
let narrow: string
let restricted: string
const work = { runs: 0 }

beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database, clock }) => [probeRoutes(database.db, clock, work)] })
  narrow = (await server.newKey({ scopes: ['email:send'] })).key
  const brand = await server.call('POST', '/v1/brands', { json: { name: 'A', slug: 'a' } })
  restricted = (await server.newKey({ brandId: brand.json.id })).key
})
afterAll(() => server.close())

function expectRefusal(
  result: { status: number; json: { error: { code: string; param?: string } } },
  status: number,
  code: string,
  param?: string,
) {
  expect({ status: result.status, code: result.json?.error?.code, param: result.json?.error?.param }).toEqual({
    status,
    code,
    param,
  })
}

test('refuses in the order of the specification, with one error corrected at a time', async () => {
  const big = 'x'.repeat(16 * 1024 * 1024 + 1)
  const wrong = { 'content-type': 'text/plain', 'idempotency-key': 'short' }
  const path = '/v1/probe?nonsense=1'
  expectRefusal(
    await server.call('POST', '/v1/nothing', { key: 'nonsense', body: big, headers: wrong }),
    401,
    'invalid_api_key',
  )
  expectRefusal(await server.call('POST', '/v1/nothing', { key: narrow, body: big, headers: wrong }), 404, 'not_found')
  expectRefusal(await server.call('POST', path, { key: narrow, body: big, headers: wrong }), 403, 'insufficient_scope')
  expectRefusal(
    await server.call('POST', path, { key: restricted, body: big, headers: wrong }),
    403,
    'brand_restricted',
  )
  expectRefusal(await server.call('POST', path, { body: big, headers: wrong }), 413, 'payload_too_large')
  expectRefusal(await server.call('POST', path, { body: '{', headers: wrong }), 415, 'unsupported_media_type')
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'short' }
  expectRefusal(await server.call('POST', path, { body: '{', headers }), 400, 'invalid_json')
  expectRefusal(await server.call('POST', path, { body: '{"subject":1}', headers }), 400, 'invalid_request', 'subject')
  expectRefusal(
    await server.call('POST', path, { body: '{"subject":"a"}', headers }),
    400,
    'invalid_request',
    'nonsense',
  )
  expectRefusal(
    await server.call('POST', '/v1/probe', { body: '{"subject":"a"}', headers }),
    400,
    'idempotency_key_invalid',
    'Idempotency-Key',
  )
  expect((await server.call('POST', '/v1/probe', { json: { subject: 'a' } })).status).toBe(201)
})

test('applies the rate limit before routing, with Retry-After', async () => {
  const limited = await openTestHttpServer({ ratePerMinute: 2 })
  try {
    const calls = [
      await limited.call('GET', '/v1/brands'),
      await limited.call('GET', '/v1/nothing'),
      await limited.call('GET', '/v1/nothing'),
    ]
    expect(calls.map(call => call.status)).toEqual([200, 404, 429])
    expect(calls.map(call => call.headers.get('x-ratelimit-remaining'))).toEqual(['1', '0', '0'])
    expect(calls[2]?.json.error).toMatchObject({ code: 'rate_limited', requirement: 'wait', retryable: true })
    const wait = Number(calls[2]?.headers.get('retry-after'))
    expect(wait).toBeGreaterThanOrEqual(1)
    expect(wait).toBeLessThanOrEqual(60)
    const other = await limited.newKey({ organizationId: await limited.newOrganization() })
    expect((await limited.call('GET', '/v1/brands', { key: other.key })).status).toBe(200)
    limited.clock.forward(60_000)
    expect((await limited.call('GET', '/v1/brands')).status).toBe(200)
  } finally {
    await limited.close()
  }
})

test('limits failed authentications by address, and accepts a valid key from the same address', async () => {
  const limited = await openTestHttpServer({ authFailuresPerMinute: 3 })
  try {
    const statuses: number[] = []
    for (let i = 0; i < 5; i++)
      statuses.push((await limited.call('GET', '/v1/brands', { key: i % 2 ? null : 'x' })).status)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    const refused = await limited.call('GET', '/v1/brands', { key: null })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await limited.call('GET', '/v1/brands')).status).toBe(200)
  } finally {
    await limited.close()
  }
})

test('distinguishes clients behind a trusted proxy', async () => {
  const limited = await openTestHttpServer({ authFailuresPerMinute: 1, trustedProxies: ['127.0.0.1'] })
  try {
    const failFrom = async (client: string) =>
      (await limited.call('GET', '/v1/brands', { key: null, headers: { 'x-forwarded-for': `9.9.9.9, ${client}` } }))
        .status
    expect([await failFrom('192.0.2.1'), await failFrom('192.0.2.1'), await failFrom('192.0.2.2')]).toEqual([
      401, 429, 401,
    ])
    await limited.call('GET', '/v1/brands', { headers: { 'x-forwarded-for': '192.0.2.3' } })
    expect((await limited.call('GET', '/v1/requests')).json.data[0].ip).toBe('192.0.2.3')
  } finally {
    await limited.close()
  }
})

test('distinguishes a missing, a wrong, an expired and a revoked key, from the next request on', async () => {
  const refusalOf = async (key: string | null) => (await server.call('GET', '/v1/brands', { key })).json.error?.code
  expect(await refusalOf(null)).toBe('missing_api_key')
  expect((await server.call('GET', '/v1/brands', { headers: { authorization: 'Basic eDp5' } })).json.error.code).toBe(
    'missing_api_key',
  )
  const { id, key } = await server.newKey()
  expect(await refusalOf(key)).toBeUndefined()
  const other = await server.newKey()
  expect(await refusalOf(key.slice(0, 31) + other.key.slice(31))).toBe('invalid_api_key')
  expect(await refusalOf(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`)).toBe('invalid_api_key')
  const { revokeKey } = await import('../../../src/accounts/keys/keys.ts')
  expect(await revokeKey(server.database.db, id, server.clock)).toBe(true)
  expect(await refusalOf(key)).toBe('api_key_revoked')
  const passing = await server.newKey({ expiresAt: inMs(server.clock, 60_000) })
  expect(await refusalOf(passing.key)).toBeUndefined()
  server.clock.forward(60_001)
  expect(await refusalOf(passing.key)).toBe('api_key_expired')
})

test('checks the format of the key before it queries the database', async () => {
  const result = await server.call('GET', '/v1/brands', { headers: { authorization: 'bearer  mrk_x' } })
  expect(result.json.error.code).toBe('invalid_api_key')
  expect((await server.call('GET', '/v1/brands', { headers: { authorization: `bearer  ${server.key}` } })).status).toBe(
    200,
  )
})
