import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import pino from 'pino'
import type { RequestLogRow } from '../../../src/accounts/request-log/table.ts'
import { selectRequests } from '../../../src/accounts/request-log/table.ts'
import { openRequestLog } from '../../../src/accounts/request-log/writer.ts'
import { type Instant, instantAt, microsecondsOf } from '../../../src/base/clock.ts'
import { openDatabase } from '../../../src/base/database/database.ts'
import { type Id, newId } from '../../../src/base/ids.ts'
import { registry } from '../../../src/base/observability/metrics.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { countRowsRead } from '../../harness/rows-read.ts'
import { until } from '../../harness/until.ts'
import { probeRoutes } from '../../servers/http/probe-routes.ts'

let server: TestHttpServer
const silent = pino({ level: 'silent' })

beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database, clock }) => [probeRoutes(database.db, clock, { runs: 0 })],
  })
})
afterAll(() => server.close())

function rowAt(organizationId: Id<'org'>, at: Instant): RequestLogRow {
  return {
    id: newId('req'),
    organization_id: organizationId,
    created_at: at,
    client_request_id: null,
    method: 'POST',
    path: '/v1/emails',
    status: 202,
    duration_ms: 1,
    api_key_id: newId('key'),
    brand_id: null,
    ip: '127.0.0.1',
    user_agent: null,
    error_code: null,
    idempotent_replay: 0,
    email_id: null,
  }
}

async function countRows(organizationId: Id<'org'>): Promise<number> {
  const { count } = await server.database.db
    .selectFrom('request_log')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function dropped(): Promise<number> {
  const metric = await registry.getSingleMetric('mailroom_request_log_dropped_total')?.get()
  return metric?.values[0]?.value ?? 0
}

describe('the list of requests', () => {
  test('shows each request with its caller, address and outcome, including refused ones', async () => {
    const organizationId = await server.newOrganization()
    const { id: keyId, key } = await server.newKey({ organizationId })
    const narrow = await server.newKey({ organizationId, scopes: ['email:send'] })
    const calls = [
      await server.call('GET', '/v1/brands?', { key, headers: { 'user-agent': 'a\t\x85b', 'x-request-id': 'mine-1' } }),
      await server.call('GET', '/v1/nothing?secret=1', { key }),
      await server.call('HEAD', '/v1/brands', { key }),
      await server.call('GET', '/v1/brands', { key: narrow.key }),
      await server.call('POST', '/v1/probe', { key, body: 'x'.repeat(17 * 1024 * 1024) }),
      await server.call('POST', '/v1/probe/fails', { key, headers: { 'user-agent': 'é'.repeat(300) } }),
      await server.call('GET', `/v1/brands/${key}`, { key }),
    ]
    await server.call('GET', '/v1/brands', { key: null })
    const { json, status } = await server.call('GET', '/v1/requests', { key })
    expect([status, json.next_before]).toEqual([200, null])
    expect(json.data.map((item: { id: string }) => item.id)).toEqual(
      calls.map(callResult => callResult.headers.get('x-request-id') ?? '').reverse(),
    )
    const listed = json.data.toReversed()
    expect(listed[0]).toEqual({
      id: calls[0]?.headers.get('x-request-id') ?? '',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      client_request_id: 'mine-1',
      method: 'GET',
      path: '/v1/brands',
      status: 200,
      duration_ms: expect.any(Number),
      api_key_id: keyId,
      brand_id: null,
      ip: '127.0.0.1',
      user_agent: 'a  b',
      error_code: null,
      idempotent_replay: false,
      email_id: null,
    })
    const outcome = (request: { method: string; path: string; status: number; error_code: string }) =>
      `${request.method} ${request.path} ${request.status} ${request.error_code}`
    expect(listed.slice(1).map(outcome)).toEqual([
      'GET /v1/nothing 404 not_found',
      'HEAD /v1/brands 200 null',
      'GET /v1/brands 403 insufficient_scope',
      'POST /v1/probe 413 payload_too_large',
      'POST /v1/probe/fails 500 internal_error',
      'GET /v1/brands/mrk_… 404 not_found',
    ])
    expect(listed[3].api_key_id).toBe(narrow.id)
    expect(listed[5].user_agent).toBe('é'.repeat(255))
    expect(JSON.stringify(json)).not.toContain('secret')
  })

  test('shows rate-limited requests and replays', async () => {
    const limited = await openTestHttpServer({
      ratePerMinute: 3,
      features: ({ database, clock }) => [probeRoutes(database.db, clock, { runs: 0 })],
    })
    try {
      const headers = { 'idempotency-key': 'logged-key-1' }
      for (let i = 0; i < 2; i++) await limited.call('POST', '/v1/probe', { json: { subject: 'a' }, headers })
      await limited.call('GET', '/v1/brands')
      expect((await limited.call('GET', '/v1/brands')).status).toBe(429)
      limited.clock.forward(60_000)
      const { json } = await limited.call('GET', '/v1/requests')
      expect(json.data.map((item: { status: number }) => item.status)).toEqual([429, 200, 201, 201])
      expect(json.data.map((item: { idempotent_replay: boolean }) => item.idempotent_replay)).toEqual([
        false,
        false,
        true,
        false,
      ])
      expect(json.data[0].error_code).toBe('rate_limited')
    } finally {
      await limited.close()
    }
  })

  test("shows the organization's requests, and to a restricted key those of its brand", async () => {
    const organizationId = await server.newOrganization()
    const { key } = await server.newKey({ organizationId })
    const brand = (await server.call('POST', '/v1/brands', { key, json: { name: 'A', slug: 'requests-a' } })).json.id
    const restricted = await server.newKey({ organizationId, brandId: brand, scopes: ['email:read', 'brands:read'] })
    await server.call('GET', '/v1/brands', { key: restricted.key })
    const own = (await server.call('GET', '/v1/requests', { key: restricted.key })).json
    expect(own.data.map((item: { brand_id: string }) => item.brand_id)).toEqual([brand])
    const all = (await server.call('GET', '/v1/requests', { key })).json
    expect(all.data.map((item: { brand_id: string | null }) => item.brand_id)).toEqual([brand, brand, null])
    const other = await server.newKey({ organizationId: await server.newOrganization() })
    expect((await server.call('GET', '/v1/requests', { key: other.key })).json.data).toEqual([])
    const without = await server.newKey({ organizationId, scopes: ['email:send'] })
    expect((await server.call('GET', '/v1/requests', { key: without.key })).status).toBe(403)
  })

  test('can be filtered by status and method', async () => {
    const organizationId = await server.newOrganization()
    const { key } = await server.newKey({ organizationId })
    await server.call('GET', '/v1/brands', { key })
    await server.call('GET', '/v1/nothing', { key })
    await server.call('POST', '/v1/nothing', { key })
    const list = async (query: string) =>
      (await server.call('GET', `/v1/requests?${query}`, { key })).json.data.map(
        (request: { method: string; path: string }) => `${request.method} ${request.path}`,
      )
    expect(await list('status=404')).toEqual(['POST /v1/nothing', 'GET /v1/nothing'])
    expect(await list('status=404&method=post')).toEqual(['POST /v1/nothing'])
    expect(await list('method=DELETE')).toEqual([])
    for (const query of ['status=4', 'status=ok', 'method=', 'before=yesterday', 'limit=0', 'page=2'])
      expect([query, (await server.call('GET', `/v1/requests?${query}`, { key })).status]).toEqual([query, 400])
  })

  test('shows each of 10,000 requests once, 3,000 of them from one instant, while others are added', async () => {
    const organizationId = await server.newOrganization()
    const { key } = await server.newKey({ organizationId })
    const log = openRequestLog(server.database.db, silent)
    const start = microsecondsOf(server.clock.now()) - 60_000_000
    const old = Array.from({ length: 10_000 }, (_, i) =>
      rowAt(organizationId, instantAt(start + (i < 3000 ? 5000 : i * 100))),
    )
    for (const row of old) log.record(row)
    while ((await countRows(organizationId)) < old.length) await log.flush()
    const seen: string[] = []
    let before = ''
    do {
      log.record(rowAt(organizationId, server.clock.now()))
      const page = (await server.call('GET', `/v1/requests?limit=200${before}`, { key })).json
      seen.push(...page.data.map((item: { id: string }) => item.id))
      before = page.next_before === null ? '' : `&before=${page.next_before}`
    } while (before !== '')
    const olds = new Set(old.map(row => row.id as string))
    const seenOlds = seen.filter(id => olds.has(id))
    expect([seenOlds.length, new Set(seenOlds).size]).toEqual([10_000, 10_000])
    const filter = { organizationId, brandId: null, status: null, method: null }
    for (const at of [null, instantAt(start + 500_000)]) {
      const read = await countRowsRead(server.database.db, db => selectRequests(db, filter, { before: at, limit: 50 }))
      expect([at, read < 200 ? 'few' : read]).toEqual([at, 'few'])
    }
    await log.close()
  }, 60_000)
})

test('two processes that write rows of the same instants lose and duplicate nothing', async () => {
  const organizationId = await server.newOrganization()
  const one = openRequestLog(server.database.db, silent)
  const other = openRequestLog(server.database.db, silent)
  const at = server.clock.now()
  for (let i = 0; i < 600; i++) for (const log of [one, other]) log.record(rowAt(organizationId, at))
  // A flush ends after a second even when rows are still queued.
  await until(async () => {
    await Promise.all([one.flush(), other.flush()])
    return (await countRows(organizationId)) >= 1200
  })
  await Promise.all([one.close(), other.close()])
  expect(await countRows(organizationId)).toBe(1200)
})

test('a write whose outcome is unknown is not repeated', async () => {
  const organizationId = await server.newOrganization()
  const row = rowAt(organizationId, server.clock.now())
  for (let i = 0; i < 2; i++) {
    const log = openRequestLog(server.database.db, silent)
    log.record(row)
    await log.close()
  }
  expect(await countRows(organizationId)).toBe(1)
})

test('while the database is down the newest rows stay queued, the others are counted, and closing respects its time limit', async () => {
  const away = openDatabase('mysql://root@localhost/none?socketPath=/nonexistent/socket', 1)
  const logged: string[] = []
  const log = openRequestLog(away.db, pino({ level: 'error' }, { write: line => void logged.push(line) }))
  const organizationId = newId('org')
  const before = await dropped()
  for (let i = 0; i < 10_050; i++) log.record(rowAt(organizationId, server.clock.now()))
  expect((await dropped()) - before).toBe(50)
  const started = performance.now()
  await log.flush()
  await log.close()
  expect(performance.now() - started).toBeLessThan(3000)
  expect((await dropped()) - before).toBe(10_050)
  expect(logged.length).toBe(1)
  await away.close()
})
