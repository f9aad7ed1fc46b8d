import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { rawHttp } from '../../harness/raw-http.ts'
import { probeRoutes } from './probe-routes.ts'

/** Requests whose header is too large, or that are not HTTP. */
let server: TestHttpServer
const work = { runs: 0 }

beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database, clock }) => [probeRoutes(database.db, clock, work)] })
})
afterAll(() => server.close())

/** The response to these bytes, after which the server closes the connection. */
const responseTo = (text: string) => rawHttp(server.port, Buffer.from(text, 'latin1'), 10_000)

const headOf = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${server.key}\r\n${more}\r\n`

const kibi = 1024
const large: readonly (readonly [string, (bytes: number) => string])[] = [
  ['one field', bytes => headOf('/v1/brands', `X-Large: ${'a'.repeat(bytes)}\r\n`)],
  ['many fields', bytes => headOf('/v1/brands', `X-Large: ${'a'.repeat(bytes / 100)}\r\n`.repeat(100))],
  ['a query', bytes => headOf(`/v1/brands?a=${'b'.repeat(bytes)}`)],
  ['a path', bytes => headOf(`/v1/${'b'.repeat(bytes)}`)],
  ['a page', bytes => headOf('/docs', `Cookie: ${'a'.repeat(bytes)}\r\n`)],
]

for (const [what, request] of large)
  test(`a header that is too large for ${what} is refused with an error body`, async () => {
    for (const bytes of [17 * kibi, 60 * kibi, 120 * kibi]) {
      const response = await responseTo(request(bytes))
      const [head = '', body = ''] = response.split('\r\n\r\n')
      expect([what, bytes, head.split('\r\n')[0]]).toEqual([what, bytes, 'HTTP/1.1 400 Bad Request'])
      expect(head.toLowerCase()).toContain('x-request-id: req_')
      expect(head.toLowerCase().includes('x-ratelimit-remaining: ')).toBe(what !== 'a page')
      expect(JSON.parse(body).error).toMatchObject({ code: 'invalid_request', requirement: 'fix_request' })
      expect(JSON.parse(body).error.message).toContain('at most 16384 (16 KiB) are accepted')
    }
  })

test('a header of almost 16 KiB is accepted', async () => {
  for (const [what, request] of large.slice(0, 2))
    expect([what, (await responseTo(request(15 * kibi))).split('\r\n')[0]]).toEqual([what, 'HTTP/1.1 200 OK'])
})

/** Bun's parser answers these itself, without a body: Bun.serve has no hook for them. */
test('a header that is larger still, and what is not HTTP, gets a status alone and is not processed', async () => {
  const before = work.runs
  for (const [status, text] of [
    [431, headOf('/v1/probe/effect', `X-Large: ${'a'.repeat(200 * kibi)}\r\n`)],
    [431, headOf('/v1/probe/effect', 'X-Many: a\r\n'.repeat(300))],
    [400, headOf('/v1/probe/effect', 'No colon\r\n')],
    [400, headOf('/v1/probe/effect', 'X A: b\r\n')],
    [400, headOf('/v1/probe/effect', 'X-Nul: a\0b\r\n')],
    [400, 'GET /v1/probe/effect HTTP/1.1\r\n\r\n'],
    [400, 'hello\r\n\r\n'],
    [505, 'GET /v1/probe/effect HTTP/3.7\r\nHost: x\r\n\r\n'],
  ] as const) {
    const response = await responseTo(text)
    expect([text.slice(0, 200), response.split(' ')[1]]).toEqual([text.slice(0, 200), String(status)])
    expect(response).toEndWith('\r\n\r\n')
  }
  expect(work.runs).toBe(before)
})
