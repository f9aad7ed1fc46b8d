import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Mailroom, startMailroom } from '../harness/mailroom.ts'
import { apiOperations } from '../harness/openapi-document.ts'
import { SmtpClient } from '../harness/smtp-client.ts'

let mailroom: Mailroom
/** An existing id for the first path segment after /v1. */
let ids: Readonly<Record<string, string>>
const operations = apiOperations().filter(apiOperation => apiOperation.path !== '/v1/mcp')
const reading = operations.filter(operation => operation.method === 'GET')
const paths = [...new Set(operations.map(operation => operation.path))]

beforeAll(async () => {
  mailroom = await startMailroom({ MAILROOM_AUTH_FAILURES_PER_MINUTE: '1000000000' })
  const client = await SmtpClient.ready(mailroom.smtp)
  await client.commands('MAIL FROM:<you@friend.test>', 'RCPT TO:<hello@demo.test>', 'DATA')
  await client.command('From: you@friend.test\r\nSubject: x\r\n\r\nx\r\n.')
  const email = { from: 'hello@demo.test', to: 'you@friend.test', subject: 'x', text: 'x' }
  ids = {
    brands: mailroom.demo.brand_id,
    domains: mailroom.demo.domain_id,
    inbox: (await mailroom.api('GET', '/v1/inbox')).json.data[0].id,
    emails: (await mailroom.api('POST', '/v1/emails', email)).json.id,
  }
  await mailroom.api('POST', `/v1/inbox/${ids['inbox']}/read`, { read: true })
}, 60_000)
afterAll(() => mailroom?.stop(), 60_000)

const fill = (path: string) => path.replaceAll(/:\w+/g, () => ids[path.split('/')[2] ?? ''] ?? 'some')

async function ask(method: string, path: string, key: string | null = mailroom.key) {
  const headers = new Headers(key === null ? {} : { authorization: `Bearer ${key}` })
  const response = await fetch(mailroom.http + path, { method, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

test('HEAD works on every path with GET, without a body and without effects', async () => {
  let found = 0
  for (const { path } of reading) {
    const at = fill(path)
    const head = await ask('HEAD', at)
    const get = await ask('GET', at)
    expect([at, head.status, head.text]).toEqual([at, get.status, ''])
    expect([at, head.headers.get('content-type')]).toEqual([at, get.headers.get('content-type')])
    // The list of requests has one more by then.
    if (path !== '/v1/requests')
      expect([at, head.headers.get('content-length')]).toEqual([at, String(Buffer.byteLength(get.text))])
    if (get.status === 200) found++
  }
  expect(found).toBeGreaterThan(12)
})

test('HEAD does not mark a message read', async () => {
  const unread = await mailroom.api('POST', `/v1/inbox/${ids['inbox']}/read`, { read: false })
  expect(unread.status).toBe(200)
  for (const { path } of reading) await ask('HEAD', fill(path))
  expect((await mailroom.api('GET', '/v1/inbox')).json.data[0].read).toBe(false)
})

test('every path lists its methods in Allow for an unsupported one', async () => {
  for (const path of paths) {
    const known = operations.filter(operation => operation.path === path).map(operation => operation.method)
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(value => !known.includes(value))
    for (const method of others) {
      const at = fill(path)
      const { status, headers, text } = await ask(method, at)
      const what = `${method} ${at}`
      // GET /v1/inbox/bulk is the message of the id `bulk`.
      if (operations.some(operation => operation.method === method && matches(operation.path, at))) continue
      expect([what, status, JSON.parse(text).error.code]).toEqual([what, 404, 'not_found'])
      for (const name of known)
        expect([what, headers.get('allow')?.split(', ')]).toEqual([what, expect.arrayContaining([name])])
      expect([what, headers.get('x-ratelimit-limit')]).toEqual([what, expect.stringMatching(/^\d+$/)])
    }
  }
})

function matches(path: string, at: string): boolean {
  return new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(at)
}

test('every operation requires a key first, and sends rate limit headers with a valid one', async () => {
  for (const { method, path } of operations) {
    const at = fill(path)
    const strange = await ask(method, at, null)
    expect([at, strange.status, strange.headers.get('www-authenticate')]).toEqual([at, 401, 'Bearer'])
    expect(strange.headers.get('x-ratelimit-limit')).toBeNull()
    if (method !== 'GET') continue
    const { headers } = await ask(method, at)
    for (const name of ['limit', 'remaining', 'reset'])
      expect([at, headers.get(`x-ratelimit-${name}`)]).toEqual([at, expect.stringMatching(/^\d+$/)])
    expect([at, headers.get('cache-control')]).toEqual([at, 'no-store'])
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
  }
})
