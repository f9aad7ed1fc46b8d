import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { Mailroom, MailroomConnectionError, MailroomError, type MailroomOptions } from '../../client/src/index.ts'
import { projectRoot } from '../harness/cli.ts'

/** The client against a server that answers as it is told. */
type Answer = (request: Request) => Response | Promise<Response>

interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

const servers: { stop(closeConnections: boolean): unknown }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true)
})

/** Answers the first request by the first answer and so on; the last one answers all further requests. */
function serve(answers: readonly Answer[], options: Partial<MailroomOptions> = {}) {
  const seen: SeenRequest[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const answer = answers[Math.min(seen.length, answers.length - 1)] as Answer
      const { method, url, headers } = request
      seen.push({ method, url: url.slice(new URL(url).origin.length), headers, body: await request.text() })
      return answer(request)
    },
  })
  servers.push(server)
  const url = `http://127.0.0.1:${server.port}`
  return { seen, url, mailroom: new Mailroom({ url, key: 'mrk_test', ...options }) }
}

const refusal = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Answer => {
  const error = { code, message: `It is ${code}.`, requirement: 'wait', retryable: status >= 429, ...more }
  return () => Response.json({ error }, { status, headers: { 'x-request-id': 'req_1', ...headers } })
}
const ok =
  (body: object): Answer =>
  () =>
    Response.json(body, { status: 202 })
const email = { from: 'a@acme.test', to: 'b@friend.test', subject: 'Hello', text: 'Hello' }

async function errorOf(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error('it succeeded')
    },
    (error: unknown) => error,
  )
}

test('sends the key, JSON, and an Idempotency-Key of its own for each call', async () => {
  const { seen, mailroom } = serve([ok({ id: 'eml_1' })])
  await mailroom.emails.send(email)
  await mailroom.emails.send(email)
  await mailroom.emails.get('eml_1')
  const [first, second, third] = seen
  expect([first?.method, first?.url, JSON.parse(first?.body ?? '')]).toEqual(['POST', '/v1/emails', email])
  expect(first?.headers.get('authorization')).toBe('Bearer mrk_test')
  expect(first?.headers.get('content-type')).toBe('application/json')
  const keys = [first, second].map(request => request?.headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(2)
  expect(keys.every(key => key && key.length >= 8)).toBe(true)
  expect([third?.method, third?.headers.get('idempotency-key'), third?.headers.get('content-type')]).toEqual([
    'GET',
    null,
    null,
  ])
})

test('writes bytes of attachments in base64, and dates in ISO 8601', async () => {
  const { seen, mailroom } = serve([ok({ id: 'eml_1' })])
  const content = crypto.getRandomValues(new Uint8Array(60_000))
  await mailroom.emails.send({
    ...email,
    scheduled_at: new Date('2030-01-02T03:04:05Z'),
    attachments: [
      { filename: 'a.bin', content, content_id: 'a' },
      { filename: 'b.bin', content: 'QQ==' },
    ],
  })
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
    scheduled_at: '2030-01-02T03:04:05.000Z',
    attachments: [
      { filename: 'a.bin', content: Buffer.from(content).toString('base64'), content_id: 'a' },
      { filename: 'b.bin', content: 'QQ==' },
    ],
  })
})

test('encodes what stands in a path, and refuses what names another path', async () => {
  const { seen, mailroom } = serve([ok({})])
  await mailroom.suppressions.delete('a/b?c@x.test', { brand_id: 'brd_1' })
  expect(seen[0]?.url).toBe('/v1/suppressions/a%2Fb%3Fc%40x.test?brand_id=brd_1')
  for (const id of ['', '.', '..']) expect(await errorOf(mailroom.emails.get(id))).toBeInstanceOf(TypeError)
  expect(seen).toHaveLength(1)
})

test('tries again after 429 and 500 with the same Idempotency-Key, and waits as long as Retry-After says', async () => {
  const { seen, mailroom } = serve([
    refusal(429, 'idempotency_in_progress', { 'retry-after': '1' }),
    refusal(500, 'unavailable'),
    ok({ id: 'eml_1' }),
  ])
  const started = performance.now()
  expect(await mailroom.emails.send(email)).toMatchObject({ id: 'eml_1' })
  expect(performance.now() - started).toBeGreaterThan(1450)
  const keys = seen.map(({ headers }) => headers.get('idempotency-key'))
  expect([keys.length, new Set(keys).size]).toEqual([3, 1])
})

test('gives up after maxRetries, with the last error', async () => {
  const { seen, mailroom } = serve([refusal(500, 'internal_error')], { maxRetries: 1 })
  const error = await errorOf(mailroom.emails.list())
  expect(error).toBeInstanceOf(MailroomError)
  expect(seen).toHaveLength(2)
})

test('does not try again what has to change, nor after a wait that is too long', async () => {
  const { seen, mailroom } = serve([
    refusal(422, 'domain_not_verified'),
    refusal(429, 'rate_limited', { 'retry-after': '61' }),
  ])
  expect(await errorOf(mailroom.emails.send(email))).toMatchObject({ code: 'domain_not_verified' })
  expect(await errorOf(mailroom.emails.send(email))).toMatchObject({ code: 'rate_limited', retryAfter: 61 })
  expect(seen).toHaveLength(2)
})

test('does not invite twice: without an Idempotency-Key only what was certainly not processed is tried again', async () => {
  const { seen, mailroom } = serve([refusal(429, 'rate_limited'), refusal(500, 'internal_error'), ok({ id: 'inv_1' })])
  const error = await errorOf(mailroom.invitations.create({ brand_ids: ['brd_1'], permissions: ['email:read'] }))
  expect(error).toMatchObject({ code: 'internal_error' })
  expect(seen.map(({ headers }) => headers.get('idempotency-key'))).toEqual([null, null])
})

test('has all that an error says', async () => {
  const { mailroom } = serve([
    refusal(
      400,
      'invalid_request',
      {},
      { requirement: 'fix_request', retryable: false, param: 'to[3]', reason: 'why', resolution: 'how' },
    ),
  ])
  const error = await errorOf(mailroom.emails.send(email))
  expect(error).toBeInstanceOf(MailroomError)
  expect(error).toMatchObject({
    name: 'MailroomError',
    message: 'It is invalid_request.',
    status: 400,
    code: 'invalid_request',
    requirement: 'fix_request',
    param: 'to[3]',
    reason: 'why',
    resolution: 'how',
    retryable: false,
    requestId: 'req_1',
  })
})

test('says that an answer is not Mailroom’s, and follows no redirect', async () => {
  const { seen, url, mailroom } = serve([
    () => new Response('<html>', { status: 404 }),
    request => Response.redirect(`${new URL(request.url).origin}/elsewhere`, 307),
    () => new Response('<html>', { status: 200, headers: { 'content-type': 'text/html' } }),
  ])
  expect(await errorOf(mailroom.emails.get('eml_1'))).toMatchObject({
    code: 'unexpected_response',
    status: 404,
    requestId: undefined,
  })
  expect(await errorOf(mailroom.emails.get('eml_1'))).toMatchObject({ code: 'unexpected_response', status: 307 })
  expect(await errorOf(mailroom.emails.get('eml_1'))).toMatchObject({ code: 'unexpected_response', status: 200 })
  expect(seen.map(request => request.url)).toEqual(['/v1/emails/eml_1', '/v1/emails/eml_1', '/v1/emails/eml_1'])
  expect(url).toStartWith('http')
})

test('tries again where there was no answer', async () => {
  const { url } = serve([ok({})])
  let calls = 0
  const mailroom = new Mailroom({
    url,
    key: 'mrk_test',
    fetch: (at, init) => (calls++ === 0 ? Promise.reject(new TypeError('connection refused')) : fetch(at, init)),
  })
  expect(await mailroom.domains.list()).toEqual({} as never)
  expect(calls).toBe(2)
  const closed = new Mailroom({ url: 'http://127.0.0.1:1', key: 'mrk_test', maxRetries: 0 })
  const error = await errorOf(closed.emails.send(email))
  expect(error).toBeInstanceOf(MailroomConnectionError)
  expect(error).toMatchObject({ message: 'There was no answer from http://127.0.0.1:1.', isTimeout: false })
})

test('ends an attempt after timeoutMs, also while the body arrives', async () => {
  const never = () => new Promise<Response>(() => undefined)
  const half = () =>
    new Response(
      new ReadableStream({
        start: controller => controller.enqueue(new TextEncoder().encode('{"data":')),
      }),
    )
  const { mailroom } = serve([never, half], { maxRetries: 0, timeoutMs: 100 })
  for (const _ of ['no answer', 'half an answer'])
    expect(await errorOf(mailroom.emails.get('eml_1'))).toMatchObject({
      name: 'MailroomConnectionError',
      isTimeout: true,
      message: 'Mailroom did not answer within 100 ms.',
    })
})

test('ends with the reason of the signal: before it begins, during a request, and while it waits for the next', async () => {
  const { seen, mailroom } = serve([
    () => new Promise(() => undefined),
    refusal(429, 'rate_limited', { 'retry-after': '30' }),
  ])
  const aborted = (afterMs: number) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort('enough'), afterMs)
    return controller.signal
  }
  expect(await errorOf(mailroom.emails.get('eml_1', { signal: AbortSignal.abort('before') }))).toBe('before')
  expect(seen).toHaveLength(0)
  expect(await errorOf(mailroom.emails.get('eml_1', { signal: aborted(50) }))).toBe('enough')
  expect(await errorOf(mailroom.emails.get('eml_1', { signal: aborted(50) }))).toBe('enough')
})

test('gives the first page of a list to await, and all items of all pages to for await', async () => {
  const pages = [
    { data: [{ id: 1 }, { id: 2 }], next_before: '2026-01-01T00:00:00.000000Z' },
    { data: [{ id: 3 }], next_before: null },
  ]
  const { seen, mailroom } = serve([ok(pages[0] as object), ok(pages[0] as object), ok(pages[1] as object)])
  const list = mailroom.emails.list({ limit: 2, status: 'sent' })
  expect(seen).toHaveLength(0)
  expect(await list).toEqual(pages[0] as never)
  const ids: unknown[] = []
  for await (const { id } of list) ids.push(id)
  expect(ids).toEqual([1, 2, 3])
  expect(seen.map(({ url }) => url)).toEqual([
    '/v1/emails?limit=2&status=sent',
    '/v1/emails?limit=2&status=sent',
    '/v1/emails?limit=2&status=sent&before=2026-01-01T00%3A00%3A00.000000Z',
  ])
})

test('needs nothing but what Node, Bun, Deno and workers all have', async () => {
  const entry = join(projectRoot, 'client/src/index.ts')
  const { outputs } = await Bun.build({ entrypoints: [entry], format: 'cjs', target: 'browser' })
  const { seen, url } = serve([refusal(500, 'internal_error'), ok({ id: 'eml_1' })])
  const ofRuntime = { fetch, crypto, setTimeout, clearTimeout, AbortController, URL, URLSearchParams }
  const ofText = { TextEncoder, TextDecoder, Headers, atob, btoa }
  const module = { exports: {} as typeof import('../../client/src/index.ts') }
  runInNewContext((await outputs[0]?.text()) ?? '', { ...ofRuntime, ...ofText, module, exports: module.exports })
  const mailroom = new module.exports.Mailroom({ url, key: 'mrk_test' })
  const attachments = [{ filename: 'a.txt', content: new TextEncoder().encode('A') }]
  expect(await mailroom.emails.send({ ...email, attachments })).toMatchObject({ id: 'eml_1' })
  expect(seen).toHaveLength(2)
})

test('refuses to be opened without a URL or a key', () => {
  expect(() => new Mailroom({ url: 'mail.example', key: 'mrk_1' })).toThrow('url is where Mailroom is')
  expect(() => new Mailroom({ url: 'https://mail.example', key: undefined })).toThrow('it is missing')
})
