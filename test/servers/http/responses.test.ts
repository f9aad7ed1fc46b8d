import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import { openRequestLog } from '../../../src/accounts/request-log/writer.ts'
import { openSessionAuthenticator } from '../../../src/accounts/sessions/authenticate.ts'
import { openDatabase } from '../../../src/base/database/database.ts'
import { openMetricsServer } from '../../../src/servers/http/metrics-server.ts'
import { openHttpServer } from '../../../src/servers/http/server.ts'
import { openClientLimits } from '../../../src/servers/limits/client-limits.ts'
import { type CallResult, openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { until } from '../../harness/until.ts'
import { probeRoutes } from './probe-routes.ts'

let server: TestHttpServer
const work = { runs: 0 }

beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database, clock }) => [probeRoutes(database.db, clock, work)] })
})
afterAll(() => server.close())

test('sets the common headers on every kind of response', async () => {
  const kinds: readonly [string, CallResult, number][] = [
    ['success', await server.call('GET', '/v1/brands'), 200],
    ['raw bytes', await server.call('GET', '/v1/probe/raw'), 200],
    ['HEAD', await server.call('HEAD', '/v1/brands'), 200],
    ['bad request', await server.call('POST', '/v1/probe', { json: {} }), 400],
    ['no such path', await server.call('GET', '/v1/nothing'), 404],
    ['another method', await server.call('PUT', '/v1/probe'), 404],
    ['too large', await server.call('POST', '/v1/probe', { body: 'x'.repeat(17 * 1024 * 1024) }), 413],
    ['an internal error', await server.call('POST', '/v1/probe/fails'), 500],
  ]
  for (const [kind, { status, headers }, expected] of kinds) {
    expect([kind, status]).toEqual([kind, expected])
    expect([kind, headers.get('cache-control')]).toEqual([kind, 'no-store'])
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
    for (const name of ['limit', 'remaining', 'reset']) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/)
  }
  expect(new Set(kinds.map(([, { headers }]) => headers.get('x-request-id'))).size).toBe(kinds.length)
})

test('challenges a request without a key, without rate limit headers', async () => {
  const { status, headers } = await server.call('GET', '/v1/brands', { key: null })
  expect(status).toBe(401)
  expect(headers.get('www-authenticate')).toBe('Bearer')
  expect(headers.get('x-request-id')).toStartWith('req_')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-ratelimit-limit')).toBeNull()
})

test('never uses a request id of the client', async () => {
  const { headers } = await server.call('GET', '/v1/brands', { headers: { 'x-request-id': 'req_mine' } })
  expect(headers.get('x-request-id')).not.toBe('req_mine')
})

test('responds to HEAD as to GET without the body, with its length and without effects', async () => {
  const [get, head] = [await server.call('GET', '/v1/brands'), await server.call('HEAD', '/v1/brands')]
  expect([head.status, head.text]).toEqual([200, ''])
  expect(head.headers.get('content-length')).toBe(String(get.text.length))
  expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  const before = work.runs
  expect((await server.call('HEAD', '/v1/probe/effect')).status).toBe(200)
  expect(work.runs).toBe(before)
  expect((await server.call('GET', '/v1/probe/effect')).json.run).toBe(before + 1)
  expect((await server.call('HEAD', '/v1/nothing')).status).toBe(404)
})

test('lists the methods of a path in Allow', async () => {
  expect((await server.call('PUT', '/v1/probe')).headers.get('allow')).toBe('DELETE, PATCH, POST')
  expect((await server.call('PUT', '/v1/brands/some')).headers.get('allow')).toBe('GET, HEAD, PATCH')
  expect((await server.call('HEAD', '/v1/probe')).headers.get('allow')).toBe('DELETE, PATCH, POST')
  expect((await server.call('GET', '/v1/nothing')).headers.get('allow')).toBeNull()
  expect((await server.call('POST', '/health', { key: null })).status).toBe(404)
})

test('requires the key for every spelling of a path', async () => {
  for (const path of ['/%761/brands', '//v1/brands', '/V1/brands', '/x/../v1/brands', '/v1%2fbrands'])
    expect([401, 404]).toContain((await server.call('GET', path, { key: null })).status)
})

test('reports an internal error, with the stack only in the log', async () => {
  const failed = await server.call('POST', '/v1/probe/fails')
  expect(failed.json.error).toMatchObject({ code: 'internal_error', requirement: 'retry', retryable: true })
  expect(failed.text).not.toContain('secret of the house')
  const mismatch = await server.call('GET', '/v1/probe/mismatch')
  expect([mismatch.status, mismatch.json.error.code]).toEqual([500, 'internal_error'])
  expect(mismatch.text).not.toContain('secret')
  const log = server.logged.join('\n')
  expect(log).toContain('secret of the house')
  expect(log).toContain(failed.headers.get('x-request-id') ?? 'none')
  expect(log).toContain(mismatch.headers.get('x-request-id') ?? 'none')
})

test('responds unavailable without the database, while /health still works', async () => {
  const unreachable = openDatabase('mysql://root@localhost/none?socketPath=/nonexistent/socket', 2)
  const requestLog = openRequestLog(unreachable.db, pino({ level: 'silent' }))
  const withoutDatabase = openHttpServer({
    config: {
      httpListen: { host: '127.0.0.1', port: 0 },
      varFolder: server.varFolder,
      trustedProxies: undefined,
      publicUrl: undefined,
    },
    db: unreachable.db,
    features: () => [],
    sessionAuthenticator: openSessionAuthenticator(unreachable.db, server.clock),
    dashboardFolder: server.varFolder,
    mcp: { names: [], origins: [] },
    requestLog,
    clientLimits: openClientLimits({ ratePerMinute: 10, authFailuresPerMinute: 10 }, server.clock),
    log: pino({ level: 'silent' }),
    clock: server.clock,
    readiness: async () => ({
      database: { ready: false, detail: 'connection refused' },
      disk: { ready: true, detail: null },
    }),
  })
  try {
    const called = await fetch(`${withoutDatabase.url}/v1/brands`, {
      headers: { authorization: `Bearer ${server.key}` },
    })
    expect([called.status, Number(called.headers.get('retry-after')) > 0]).toEqual([500, true])
    expect(await called.json()).toMatchObject({ error: { code: 'unavailable', retryable: true } })
    expect((await fetch(`${withoutDatabase.url}/health`)).status).toBe(200)
    const ready = await fetch(`${withoutDatabase.url}/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ database: { ready: false }, disk: { ready: true } })
  } finally {
    await withoutDatabase.close({ graceMs: 100, longestMs: 100 })
    await requestLog.close()
    await unreachable.close()
  }
})

test('serves /health and /ready without a key', async () => {
  expect(await server.call('GET', '/health', { key: null })).toMatchObject({ status: 200, json: { status: 'ok' } })
  expect(await server.call('GET', '/ready', { key: null })).toMatchObject({
    status: 200,
    json: { version: expect.stringMatching(/^\d+\.\d+\.\d+/), database: { ready: true } },
  })
})

test('finishes a request under way before it closes', async () => {
  let release = () => {}
  let isPaused = false
  const slow = {
    runs: 0,
    pause: () =>
      new Promise<void>(resolve => {
        isPaused = true
        release = resolve
      }),
  }
  const closing = await openTestHttpServer({
    features: ({ database, clock }) => [probeRoutes(database.db, clock, slow)],
  })
  const answer = closing.call('POST', '/v1/probe', { json: { subject: 'a' } })
  await until(() => isPaused)
  const closed = closing.close()
  // The server has to wait for the request while it is closing.
  setTimeout(() => release(), 100)
  expect((await answer).status).toBe(201)
  await closed
  await expect(fetch(`${closing.url}/health`)).rejects.toThrow()
})

test('serves metrics on a listener of their own', async () => {
  const metrics = openMetricsServer({ host: '127.0.0.1', port: 0 })
  try {
    await server.call('GET', '/v1/brands')
    const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
    expect(text).toContain('mailroom_http_requests_total{method="GET",route="/v1/brands",status="200"} ')
    expect(text).toContain('mailroom_http_request_seconds_count{method="GET",route="/v1/brands"} ')
    expect(text).toContain('process_cpu_user_seconds_total')
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  } finally {
    await metrics.close()
  }
})

test('gives a streamed response its declared Content-Length, small or large, and leaves no file', async () => {
  for (const size of [100_000, 5_000_000]) {
    const got = await rawGet('GET', `/v1/probe/stream/${size}`)
    expect(got.head.toLowerCase()).toContain(`content-length: ${size}\r\n`)
    expect(got.head.toLowerCase()).not.toContain('transfer-encoding')
    expect(got.body).toBe('a'.repeat(size))
    const head = await rawGet('HEAD', `/v1/probe/stream/${size}`)
    expect(head.head.toLowerCase()).toContain(`content-length: ${size}\r\n`)
    expect(head.body).toBe('')
  }
  const folder = join(server.varFolder, 'downloads')
  expect(readdirSync(folder).length).toBe(1)
  await until(() => readdirSync(folder).length === 0)
})

test('ignores Range: the whole body with 200, whatever its size and whatever is asked for', async () => {
  const ranges = ['bytes=0-9', 'bytes=5-', 'bytes=-5', 'bytes=99999999-', 'bytes=0-1,3-4', 'bytes=9-1', 'lines=1-2']
  for (const range of ranges) {
    for (const size of [0, 100_000, 5_000_000]) {
      const { head, body } = await rawGet('GET', `/v1/probe/stream/${size}`, `Range: ${range}\r\n`)
      expect([range, size, head.split('\r\n')[0]]).toEqual([range, size, 'HTTP/1.1 200 OK'])
      expect(head.toLowerCase()).toContain(`content-length: ${size}\r\n`)
      expect(body.length).toBe(size)
    }
    for (const path of ['/v1/probe/raw', '/v1/brands', '/docs', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css'])
      for (const method of ['GET', 'HEAD']) {
        const whole = await rawGet(method, path)
        const { head, body } = await rawGet(method, path, `Range: ${range}\r\nIf-Range: "x"\r\n`)
        const lengthOf = (text: string) => /content-length: \d+/i.exec(text)?.[0].toLowerCase()
        expect([range, path, head.split('\r\n')[0]]).toEqual([range, path, 'HTTP/1.1 200 OK'])
        expect([lengthOf(head), body.length]).toEqual([lengthOf(whole.head), whole.body.length])
      }
  }
})

async function rawGet(method: string, path: string, more = ''): Promise<{ head: string; body: string }> {
  const socket = connect(server.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', bytes => chunks.push(Buffer.from(bytes)))
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nConnection: close\r\n${more}\r\n`,
  )
  await new Promise(resolve => socket.on('close', resolve))
  const [head = '', ...body] = Buffer.concat(chunks).toString('latin1').split('\r\n\r\n')
  return { head: `${head}\r\n`, body: body.join('\r\n\r\n') }
}

test('responds under every host name', async () => {
  for (const host of ['x', 'mailroom.example.test:8080'])
    expect((await server.call('GET', '/v1/brands', { headers: { host } })).status).toBe(200)
})
