import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Id } from '../../../src/base/ids.ts'
import { emailRoutes } from '../../../src/sending/emails/routes.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { makeDomain, sendingOn } from '../fixtures.ts'

let server: TestHttpServer
let brandId: Id<'brd'>
beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database: { db }, clock }) => [emailRoutes(sendingOn(db, clock))],
  })
  brandId = (await makeDomain(server.database.db, server.organizationId, 'acme.example')).brandId
})
afterAll(() => server.close())

const plain = { from: 'ann@acme.example', to: 'bob@b.example', subject: 'Hello', text: 'Hello Bob' }

test('accepts, lists, shows, and shows the content', async () => {
  const sent = await server.call('POST', '/v1/emails', { json: { ...plain, cc: null, html: '<p>Hi</p>' } })
  expect([sent.status, Object.keys(sent.json)]).toEqual([
    202,
    ['id', 'status', 'message_id', 'brand_id', 'recipients', 'created_at'],
  ])
  expect(sent.json).toMatchObject({
    status: 'queued',
    brand_id: brandId,
    recipients: [{ email: 'bob@b.example', type: 'to', status: 'queued' }],
  })
  expect(sent.json.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  const list = await server.call('GET', '/v1/emails?limit=1')
  expect(list.json).toMatchObject({ data: [{ id: sent.json.id, from: 'ann@acme.example' }], next_before: null })
  const detail = await server.call('GET', `/v1/emails/${sent.json.id}`)
  expect(detail.json).toMatchObject({ ...sent.json, subject: 'Hello', events: [{ type: 'queued' }] })
  const content = await server.call('GET', `/v1/emails/${sent.json.id}/content`)
  expect(content.json).toMatchObject({ text: 'Hello Bob', html: '<p>Hi</p>', available: true })
})

describe('refuses a body of another form, and names the parameter', () => {
  const cases: readonly (readonly [string, unknown, string?])[] = [
    ['no from', { ...plain, from: undefined }, 'from'],
    ['no to', { ...plain, to: undefined }, 'to'],
    ['an object as to', { ...plain, to: { a: 1 } }, 'to'],
    ['a number among to', { ...plain, to: ['a@b.example', 7] }, 'to[1]'],
    ['a number as subject', { ...plain, subject: 1 }, 'subject'],
    ['a subject past 998', { ...plain, subject: 'x'.repeat(999) }, 'subject'],
    ['a list as text', { ...plain, text: ['x'] }, 'text'],
    ['a path for an attachment', { ...plain, attachments: [{ filename: 'x', path: '/etc/passwd' }] }, 'attachments[0]'],
    [
      'an href beside content',
      { ...plain, attachments: [{ filename: 'x', content: '', href: 'http://x' }] },
      'attachments[0].href',
    ],
    ['raw', { ...plain, raw: 'x' }, 'raw'],
    ['a header that is a list', { ...plain, headers: { 'X-A': ['x'] } }, 'headers.X-A'],
    ['a number in metadata', { ...plain, metadata: { a: 1 } }, 'metadata.a'],
    ['21 tags', { ...plain, tags: Array.from({ length: 21 }, () => ({ name: 'a', value: 'b' })) }, 'tags'],
    ['a tag with more', { ...plain, tags: [{ name: 'a', value: 'b', c: 'd' }] }, 'tags[0].c'],
    ['an expiry of six days', { ...plain, expires_in: 6 * 86_400 }, 'expires_in'],
    ['a number as schedule', { ...plain, scheduled_at: 1 }, 'scheduled_at'],
    ['a list', [plain]],
  ]
  for (const [name, json, param] of cases)
    test(name, async () => {
      const { status, json: answer } = await server.call('POST', '/v1/emails', { json })
      expect([status, answer.error.code]).toEqual([400, 'invalid_request'])
      if (param !== undefined) expect(answer.error.param).toStartWith(param)
    })

  test('a query parameter that this list does not have', async () => {
    for (const query of ['limit=0', 'limit=x', 'status=lost', 'tag=x', 'recipient=x', 'cursor=x', 'q=x'])
      expect([query, (await server.call('GET', `/v1/emails?${query}`)).json.error?.code]).toEqual([
        query,
        'invalid_request',
      ])
  })
})

test('shows the whole content, even when text and HTML have the maximum length', async () => {
  const text = 'Grüße aus Köln. '.repeat(110_000)
  const html = `<p>${'ä'.repeat(1_000_000)}</p>`
  const { json } = await server.call('POST', '/v1/emails', { json: { ...plain, text, html } })
  const content = await server.call('GET', `/v1/emails/${json.id}/content`)
  expect([content.json.text.trim().length, content.json.html.length]).toEqual([text.trim().length, html.length])
})

test('answers a repeated Idempotency-Key with the same email, byte for byte', async () => {
  const request = { json: { ...plain, subject: 'Once' }, headers: { 'idempotency-key': 'order-17-receipt' } }
  const answers = await Promise.all([1, 2, 3].map(() => server.call('POST', '/v1/emails', request)))
  const first = answers.find(answer => answer.status === 202 && !answer.headers.has('idempotent-replay'))
  for (const callResult of answers.filter(answer => answer !== first)) expect([202, 429]).toContain(callResult.status)
  const again = await server.call('POST', '/v1/emails', request)
  expect([again.status, again.headers.get('idempotent-replay'), again.text]).toEqual([202, 'true', first?.text ?? ''])
  const { data } = (await server.call('GET', '/v1/emails')).json
  expect(data.filter((email: { subject: string }) => email.subject === 'Once')).toHaveLength(1)
})

test('holds a key to its scopes and its brand', async () => {
  const other = await makeDomain(server.database.db, server.organizationId, 'other.example')
  const sent = (await server.call('POST', '/v1/emails', { json: plain })).json
  const { key: reader } = await server.newKey({ scopes: ['email:read'] })
  expect((await server.call('POST', '/v1/emails', { key: reader, json: plain })).json.error.code).toBe(
    'insufficient_scope',
  )
  const { key: sender } = await server.newKey({ scopes: ['email:send'] })
  for (const path of ['', `/${sent.id}`, `/${sent.id}/content`])
    expect((await server.call('GET', `/v1/emails${path}`, { key: sender })).json.error.code).toBe('insufficient_scope')

  const { key: restricted } = await server.newKey({ brandId: other.brandId })
  const refused = await server.call('POST', '/v1/emails', { key: restricted, json: plain })
  expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([403, 'from_not_allowed', 'from'])
  expect((await server.call('GET', '/v1/emails', { key: restricted })).json.data).toEqual([])
  for (const path of [`/${sent.id}`, `/${sent.id}/content`, `?brand_id=${brandId}`])
    expect((await server.call('GET', `/v1/emails${path}`, { key: restricted })).json.error.code).toBe(
      'brand_restricted',
    )

  const { key: stranger } = await server.newKey({ organizationId: await server.newOrganization() })
  for (const path of [sent.id, 'eml_00000000000000000000000000']) {
    const answer = await server.call('GET', `/v1/emails/${path}`, { key: stranger })
    expect([answer.status, answer.json.error.code]).toEqual([404, 'not_found'])
  }
  expect((await server.call('GET', '/v1/emails', { key: stranger })).json.data).toEqual([])
})
