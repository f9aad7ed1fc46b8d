import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBrowser } from '../../harness/browser.ts'
import type { TestHttpServer } from '../../harness/http-server.ts'
import { openMembersServer, outcome, publicUrl } from '../fixtures.ts'

/** The link of an invitation as a browser follows it. */
let server: TestHttpServer
let brand: string

beforeAll(async () => {
  server = await openMembersServer()
  const json = { name: 'A <b>brand</b> & "co"', slug: 'brand' }
  brand = (await server.call('POST', '/v1/brands', { json })).json.id
})
afterAll(() => server.close())

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

async function invite(json: object = {}): Promise<string> {
  const body = { brand_ids: [brand], permissions: ['inbox:read'], ...json }
  const { link } = (await server.call('POST', '/v1/invitations', { json: body })).json
  return link.slice(publicUrl.length)
}

const browse = (path: string, headers: Record<string, string> = {}) =>
  server.call('GET', path, { key: null, headers: { accept, ...headers } })

const submit = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  server.call('POST', `${path}/accept`, {
    key: null,
    body: new URLSearchParams(fields).toString(),
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

function expectPage({ headers, text }: { headers: Headers; text: string }): void {
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  const policy = headers.get('content-security-policy') ?? ''
  for (const part of ["default-src 'none'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"])
    expect(policy).toContain(part)
  expect(policy).not.toContain('unsafe')
  expect(text).toStartWith('<!doctype html>')
  expect(text).not.toMatch(/<script|<link|<img|https?:/)
}

test('shows a browser a page, which changes nothing, and a program JSON', async () => {
  const path = await invite()
  const page = await browse(path)
  expect(page.status).toBe(200)
  expectPage(page)
  expect(page.text).toContain('for <b>A &lt;b&gt;brand&lt;/b&gt; &amp; &quot;co&quot;</b>')
  expect(page.text).toContain('name="email"')
  for (const headers of [{}, { accept: 'application/json' }, { accept: '*/*' }])
    expect((await server.call('GET', path, { key: null, headers })).json).toMatchObject({ role: 'member' })
  const head = await server.call('HEAD', path, { key: null, headers: { accept } })
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', String(page.text.length)])
})

test('accepts what its form sends', async () => {
  const path = await invite({ email: 'ann@friend.test' })
  const page = await browse(path)
  expect(page.text).toContain('The invitation is for <b>ann@friend.test</b>.')
  expect(page.text).not.toContain('name="email"')
  const accepted = await submit(path, { name: 'Ann <i>' })
  expect(accepted.status).toBe(201)
  expectPage(accepted)
  expect(accepted.text).toContain('as <b>ann@friend.test</b>')
  const members = (await server.call('GET', '/v1/members')).json.data
  expect(members).toContainEqual(expect.objectContaining({ email: 'ann@friend.test', name: 'Ann <i>' }))
})

test('shows a browser why not, with the same status', async () => {
  const used = await invite({ email: 'ben@friend.test' })
  await submit(used, { name: 'Ben' })
  const open = await invite()
  const cases = [
    [await browse('/invitations/unknown'), 404, 'There is no invitation with this link.'],
    [await browse('/invitations/%ff'), 404, 'There is nothing with this path.'],
    [await browse(used), 409, 'The invitation was accepted.'],
    [await submit(used, { name: 'Ben' }), 409, 'The invitation was accepted.'],
    [await submit(open, { name: 'Ben' }), 400, '`email` is required'],
    [await submit(open, { name: 'Ben', email: '' }), 400, '`email` is required'],
    [await submit(open, { name: ' ', email: 'x@friend.test' }), 400, '`name` is'],
    [await submit(open, { name: 'Ben', email: '"<script>"' }), 400, '&lt;script&gt;'],
    [await submit(open, { name: 'Ben', email: 'ben@friend.test' }), 400, 'ben@friend.test is already a member'],
    [await submit(open, { name: 'Ben', more: 'x' }), 400, '`more` is not a parameter'],
    [await submit(open, { name: 'x'.repeat(20_000) }), 413, 'larger than'],
    [await submit(open, { name: 'x' }, { 'content-type': 'text/plain' }), 415, 'text/plain'],
  ] as const
  for (const [response, status, words] of cases) {
    expect([response.status, response.text.includes(words) ? words : response.text]).toEqual([status, words])
    expectPage(response)
  }
  const twice = await server.call('POST', `${open}/accept`, {
    key: null,
    body: 'name=a&name=b&email=c@d.test',
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect([twice.status, twice.text.includes('`name` is given more than once')]).toEqual([400, true])
})

test('takes a form from a browser only', async () => {
  const path = await invite()
  expect(outcome(await submit(path, { name: 'A', email: 'a@b.test' }, { accept: '*/*' }))).toEqual([
    415,
    'unsupported_media_type',
  ])
})

test('counts failed links of browsers too, and shows them the limit', async () => {
  const limited = await openMembersServer({ authFailuresPerMinute: 2 })
  try {
    const statuses: number[] = []
    for (let i = 0; i < 4; i++)
      statuses.push((await limited.call('GET', `/invitations/${i}`, { key: null, headers: { accept } })).status)
    expect(statuses).toEqual([404, 404, 429, 429])
    const refused = await limited.call('GET', '/invitations/x', { key: null, headers: { accept } })
    expectPage(refused)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  } finally {
    await limited.close()
  }
})

test('a person accepts in a browser, without violations of its policy', async () => {
  const browser = await startBrowser()
  try {
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('console', message => message.type() === 'error' && errors.push(message.text()))
    await page.goto(`${server.url}${await invite()}`)
    await page.getByLabel('Your email address').fill('cleo@friend.test')
    await page.getByLabel('Your name').fill('Cleo')
    await page.getByRole('button').click()
    await page.getByText('You are a member now, as cleo@friend.test.').waitFor()
    expect(errors).toEqual([])
  } finally {
    await browser.close()
  }
}, 60_000)
