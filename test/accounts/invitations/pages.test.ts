import { afterAll, beforeAll, expect, test } from 'bun:test'
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

test('leads a browser to the dashboard, which changes nothing, and gives a program JSON', async () => {
  const path = await invite()
  const followed = await fetch(server.url + path, { headers: { accept }, redirect: 'manual' })
  expect([followed.status, followed.headers.get('location'), await followed.text()]).toEqual([
    303,
    `/app/invitation#${path.slice('/invitations/'.length)}`,
    '',
  ])
  expect(followed.headers.get('referrer-policy')).toBe('no-referrer')
  expect(followed.headers.get('cache-control')).toBe('no-store')
  for (const headers of [{}, { accept: 'application/json' }, { accept: '*/*' }])
    expect((await server.call('GET', path, { key: null, headers })).json).toMatchObject({ role: 'member' })
})

test('shows a browser why not, with the same status', async () => {
  const used = await invite({ email: 'ben@friend.test' })
  const accepted = await server.call('POST', `${used}/accept`, { key: null, json: { name: 'Ben' } })
  expect(accepted.status).toBe(201)
  const cases = [
    ['/invitations/unknown', 404, 'There is no invitation with this link.'],
    ['/invitations/%ff', 404, 'There is nothing with this path.'],
    [used, 409, 'The invitation was accepted.'],
  ] as const
  for (const [path, status, words] of cases) {
    const response = await browse(path)
    expect([response.status, response.text.includes(words) ? words : response.text]).toEqual([status, words])
    expectPage(response)
  }
})

test('takes no form, not from a browser either', async () => {
  const path = await invite()
  const refused = await server.call('POST', `${path}/accept`, {
    key: null,
    body: 'name=A&email=a@b.test',
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(outcome(refused)).toEqual([415, 'unsupported_media_type'])
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
