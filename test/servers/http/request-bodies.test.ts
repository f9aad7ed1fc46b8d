import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { fetchValidated } from '../../harness/openapi-validation.ts'
import { rawHttp } from '../../harness/raw-http.ts'
import { until } from '../../harness/until.ts'
import { probeRoutes } from './probe-routes.ts'

let server: TestHttpServer
const work = { runs: 0 }

beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database, clock }) => [probeRoutes(database.db, clock, work)] })
})
afterAll(() => server.close())

async function refusal(body: string | Uint8Array, path = '/v1/probe', method = 'POST') {
  const { status, json } = await server.call(method, path, { body, headers: { 'content-type': 'application/json' } })
  return [status, json?.error?.code, json?.error?.param]
}

test('refuses a chunked body past 16 MiB without keeping it in memory', async () => {
  const before = process.memoryUsage().rss
  const socket = connect(server.port, '127.0.0.1')
  let response = ''
  let closed = false
  socket.on('data', bytes => {
    response += bytes
  })
  socket.on('close', () => {
    closed = true
  })
  socket.on('error', () => undefined)
  socket.write(
    `POST /v1/probe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  )
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 97), Buffer.from('\r\n')])
  for (let i = 0; i < 100 && !closed; i++)
    if (!socket.write(chunk))
      await Promise.race([new Promise(resolve => socket.once('drain', resolve)), until(() => closed)])
  await until(() => response.includes('payload_too_large'))
  socket.destroy()
  expect(response).toStartWith('HTTP/1.1 413 ')
  expect(response.toLowerCase()).toContain('x-ratelimit-remaining')
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
})

const mebi = 1024 * 1024

for (const connection of ['keep-alive', 'close'])
  for (const [kind, head, frame] of [
    ['declared', `Content-Length: ${17 * mebi}`, (piece: Buffer) => piece],
    [
      'chunked',
      'Transfer-Encoding: chunked',
      (piece: Buffer) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
    ],
  ] as const)
    test(`the refusal of a ${kind} body (${connection}) reaches a client that reads only after it has written`, async () => {
      const socket = connect(server.port, '127.0.0.1')
      const failures: Error[] = []
      socket.on('error', error => failures.push(error))
      socket.pause()
      socket.write(`${headOf()}Connection: ${connection}\r\n${head}\r\n\r\n`)
      for (let i = 0; i < 17 * 16 && failures.length === 0; i++) {
        const isFlushed = socket.write(frame(Buffer.alloc(mebi / 16, 97)))
        if (!isFlushed) await until(() => !socket.writableNeedDrain || failures.length > 0)
      }
      socket.write(kind === 'declared' ? '' : '0\r\n\r\n')
      let response = ''
      socket.on('data', bytes => {
        response += bytes
      })
      socket.resume()
      await until(() => response.includes('payload_too_large') || failures.length > 0)
      expect(failures).toEqual([])
      expect(response).toStartWith('HTTP/1.1 413 ')
      socket.destroy()
    })

/** The response to raw bytes, until the connection is closed, or for half a second. */
const rawResponse = (text: string) => rawHttp(server.port, text, 500)

const headOf = () =>
  `POST /v1/probe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\nContent-Type: application/json\r\n`
const small = '{"subject":"a"}'

for (const [name, fields, body] of [
  ['a Content-Length that is too small', 'Content-Length: 5', small],
  ['two different Content-Lengths', 'Content-Length: 15\r\nContent-Length: 5', small],
  ['a list of Content-Lengths', 'Content-Length: 15, 15', small],
  ['a negative Content-Length', 'Content-Length: -1', small],
  ['a Content-Length with a sign', 'Content-Length: +15', small],
  ['a Content-Length that is not a number', 'Content-Length: abc', small],
  ['a Content-Length past all integers', 'Content-Length: 99999999999999999999', small],
  ['neither Content-Length nor chunks', 'X-None: 1', small],
  ['both Content-Length and chunks', 'Content-Length: 15\r\nTransfer-Encoding: chunked', `f\r\n${small}\r\n0\r\n\r\n`],
  ['a Content-Length shorter than the chunks', 'Content-Length: 6\r\nTransfer-Encoding: chunked', '0\r\n\r\nG'],
  ['an invalid chunk size', 'Transfer-Encoding: chunked', `zz\r\n${small}\r\n0\r\n\r\n`],
  ['a chunk size past all integers', 'Transfer-Encoding: chunked', `ffffffffffffffff\r\n${small}`],
  ['another transfer coding', 'Transfer-Encoding: xchunked', `f\r\n${small}\r\n0\r\n\r\n`],
  ['a second transfer coding', 'Transfer-Encoding: gzip, chunked', `f\r\n${small}\r\n0\r\n\r\n`],
] as const)
  test(`a request with ${name} is refused and not processed`, async () => {
    const before = work.runs
    expect(await rawResponse(`${headOf()}${fields}\r\n\r\n${body}`)).toStartWith('HTTP/1.1 400 ')
    expect(work.runs).toBe(before)
  })

test('a request with a Content-Length that is too large waits for the rest, and is not processed without it', async () => {
  const before = work.runs
  expect(await rawResponse(`${headOf()}Content-Length: 50\r\n\r\n${small}`)).toBe('')
  expect(work.runs).toBe(before)
})

test('declared bodies that never arrive use no memory and do not block other requests', async () => {
  const before = process.memoryUsage().rss
  const silent = Array.from({ length: 100 }, () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`${headOf()}Content-Length: ${16 * 1024 * 1024}\r\n\r\n{`)
    return socket
  })
  await Promise.all(silent.map(socket => until(() => socket.bytesWritten > 0 && socket.writableLength === 0)))
  expect((await server.call('POST', '/v1/probe', { json: { subject: 'a' } })).status).toBe(201)
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024)
  for (const socket of silent) socket.destroy()
})

test('the last of two properties with one name counts, for validation as for the handler', async () => {
  const send = (body: string) =>
    server.call('POST', '/v1/probe', { body, headers: { 'content-type': 'application/json' } })
  expect((await send('{"subject":"a","subject":"b"}')).json.subject).toBe('b')
  expect((await send('{"subject":1,"subject":"b"}')).json.subject).toBe('b')
  expect((await send('{"subject":"a","subject":1}')).json.error).toMatchObject({ param: 'subject' })
})

test('accepts a body of exactly 16 MiB, declared or chunked', async () => {
  const body = JSON.stringify({ subject: 'a', variables: { pad: '' } })
  const full = body.replace('"pad":""', `"pad":"${'x'.repeat(16 * 1024 * 1024 - body.length)}"`)
  expect(full.length).toBe(16 * 1024 * 1024)
  expect(
    (await server.call('POST', '/v1/probe', { body: full, headers: { 'content-type': 'application/json' } })).status,
  ).toBe(201)
  const stream = new Blob([full]).stream()
  const chunked = await server.call('POST', '/v1/probe', {
    body: stream,
    headers: { 'content-type': 'application/json' },
  })
  expect(chunked.status).toBe(201)
})

test('accepts application/json and no other media type', async () => {
  const send = async (type: string, more: Record<string, string> = {}) =>
    (await server.call('POST', '/v1/probe', { body: '{"subject":"a"}', headers: { 'content-type': type, ...more } }))
      .status
  expect(await send('application/json')).toBe(201)
  expect(await send('Application/JSON; charset=UTF-8')).toBe(201)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonx',
  ])
    expect([type, await send(type)]).toEqual([type, 415])
  const gzipped = await server.call('POST', '/v1/probe', {
    body: gzipSync('{"subject":"a"}'),
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
  expect([gzipped.status, gzipped.json.error.code]).toEqual([415, 'unsupported_media_type'])
})

test('refuses what is not JSON in UTF-8', async () => {
  for (const body of ['{', 'nonsense', '{"subject":"a"} x', '{"subject":NaN}', "{'subject':1}"])
    expect([body, ...(await refusal(body))]).toEqual([body, 400, 'invalid_json', undefined])
  expect(await refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toEqual([
    400,
    'invalid_json',
    undefined,
  ])
})

test('refuses JSON that is nested too deeply or has too many values, quickly and with little memory', async () => {
  expect(await refusal(`{"subject":"a","variables":{"x":${'['.repeat(100)}${']'.repeat(100)}}}`)).toEqual([
    400,
    'invalid_request',
    undefined,
  ])
  const mebi = 1024 * 1024
  const before = process.memoryUsage().rss
  for (const body of [
    `${'['.repeat(8 * mebi)}${']'.repeat(8 * mebi)}`,
    '['.repeat(16 * mebi),
    '{"a":'.repeat(3 * mebi),
    `[${'[],'.repeat(5 * mebi)}[]]`,
    `{"variables":{${'"a":1,'.repeat(2 * mebi)}"b":1}}`,
    `[${'1,'.repeat(8 * mebi - 2)}1]`,
    '""'.repeat(8 * mebi),
  ]) {
    const started = performance.now()
    expect(await refusal(body)).toEqual([400, 'invalid_request', undefined])
    expect(performance.now() - started).toBeLessThan(2000)
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(400 * mebi)
  expect((await server.call('GET', '/health')).status).toBe(200)
})

test('names the invalid parameter', async () => {
  const cases: readonly [object, string][] = [
    [{}, 'subject'],
    [{ subject: 'x'.repeat(21) }, 'subject'],
    [{ subject: 'a', to: ['a', 'b', 'c', 4] }, 'to[3]'],
    [{ subject: 'a', to: 4 }, 'to'],
    [{ subject: 'a', attachments: [{ filename: 'a', content: 1 }] }, 'attachments[0].content'],
    [{ subject: 'a', attachments: [{ filename: 'a', content: 'b', path: '/etc/passwd' }] }, 'attachments[0].path'],
    [{ subject: 'a', bogus: 1 }, 'bogus'],
    [{ bogus: 1 }, 'bogus'],
    [{ subject: { toString: 'a' } }, 'subject'],
  ]
  for (const [json, param] of cases) {
    const result = await server.call('POST', '/v1/probe', { json })
    expect([result.status, result.json.error.code, result.json.error.param]).toEqual([400, 'invalid_request', param])
    expect(result.json.error.message).toContain(param)
  }
  const result = await server.call('POST', '/v1/probe', { json: { subject: 'a', to: ['a', 4711] } })
  expect(result.json.error.message).toBe('`to[1]` is 4711; expected a string.')
  expect((await server.call('GET', '/v1/brands?bogus=1')).json.error).toMatchObject({
    code: 'invalid_request',
    param: 'bogus',
  })
})

test('refuses __proto__ and numbers out of range', async () => {
  expect(await refusal('{"subject":"a","__proto__":{"x":1}}')).toEqual([400, 'invalid_request', '__proto__'])
  expect(await refusal('{"subject":"a","variables":{"__proto__":{"x":1}}}')).toEqual([
    400,
    'invalid_request',
    'variables.__proto__',
  ])
  expect(await refusal('{"subject":"a","count":1e999}')).toEqual([400, 'invalid_request', 'count'])
  expect(await refusal('{"subject":"a","variables":{"n":[1e999]}}')).toEqual([400, 'invalid_request', 'variables.n[0]'])
  expect(await refusal('[]')).toEqual([400, 'invalid_request', undefined])
  expect(await refusal('null')).toEqual([400, 'invalid_request', undefined])
})

test('treats null as absent, except on PATCH, which has to change something', async () => {
  expect((await server.call('POST', '/v1/probe', { json: { subject: 'a', to: null, count: null } })).status).toBe(201)
  expect((await server.call('POST', '/v1/probe', { json: { subject: null } })).json.error.param).toBe('subject')
  expect((await server.call('PATCH', '/v1/probe', { json: { note: null } })).json).toEqual({ got: 'null' })
  expect((await server.call('PATCH', '/v1/probe', { json: { name: null } })).json.error).toMatchObject({
    code: 'invalid_request',
    param: 'name',
  })
  expect((await server.call('PATCH', '/v1/probe', { json: {} })).json.error.code).toBe('invalid_request')
  expect((await server.call('PATCH', '/v1/probe')).json.error.code).toBe('invalid_request')
})

test('accepts no body or an empty object for an operation without a body', async () => {
  expect((await server.call('DELETE', '/v1/probe')).status).toBe(200)
  expect((await server.call('DELETE', '/v1/probe', { json: {} })).status).toBe(200)
  expect((await server.call('DELETE', '/v1/probe', { json: { a: 1 } })).json.error).toMatchObject({
    code: 'invalid_request',
    param: 'a',
  })
  expect(
    (await server.call('DELETE', '/v1/probe', { body: 'x', headers: { 'content-type': 'text/plain' } })).status,
  ).toBe(415)
})

test('gives the same details in production', async () => {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/production-server.ts`], {
    stdin: 'pipe',
    stdout: 'pipe',
    env: { ...process.env, NODE_ENV: 'production' },
  })
  try {
    const { value } = await child.stdout.getReader().read()
    const at = JSON.parse(new TextDecoder().decode(value)) as { url: string; key: string }
    const send = async (path: string, init: RequestInit) => {
      const response = await fetchValidated(at.url + path, {
        ...init,
        headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
      })
      return (await response.json()) as object
    }
    const body = '{"subject":"a","attachments":[{"filename":"a","content":1}]}'
    expect(await send('/v1/probe', { method: 'POST', body })).toMatchObject({
      error: { param: 'attachments[0].content', message: '`attachments[0].content` is 1; expected a string.' },
    })
    expect(await send('/v1/brands?bogus=1', {})).toMatchObject({ error: { code: 'invalid_request', param: 'bogus' } })
    expect(await send('/v1/probe/mismatch', {})).toMatchObject({ error: { code: 'internal_error' } })
  } finally {
    child.stdin.end()
    await child.exited
  }
})
