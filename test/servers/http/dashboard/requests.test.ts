import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openTestHttpServer, type TestHttpServer } from '../../../harness/http-server.ts'
import { probeRoutes } from '../probe-routes.ts'
import { browse, outcome, type SignedIn, signInAs } from './browser.ts'
import { sessionProbeRoutes } from './probe-routes.ts'

let server: TestHttpServer
let owner: SignedIn
const work = { runs: 0 }

beforeAll(async () => {
  server = await openTestHttpServer({
    features: ({ database, clock }) => [probeRoutes(database.db, clock, work), sessionProbeRoutes()],
  })
  owner = await signInAs(server, { role: 'owner' })
})
afterAll(() => server.close())

const probe = '/app/api/probe'

test('the cookie tells who it is, below /app/api alone', async () => {
  expect((await browse(server, owner, `${probe}/account`)).json.email).toContain('@people.test')
  expect(outcome(await browse(server, null, `${probe}/account`))).toBe('401 session_required')
  expect(outcome(await browse(server, owner, '/v1/brands'))).toBe('401 missing_api_key')
  expect(outcome(await browse(server, owner, '/v1/mcp', { method: 'POST', json: {} }))).toBe('401 missing_api_key')
  expect(outcome(await browse(server, { cookie: `${owner.cookie}x` }, `${probe}/account`))).toBe('401 session_required')
})

test('an API key is refused below /app/api, also beside a cookie', async () => {
  const headers = { authorization: `Bearer ${server.key}` }
  for (const path of [`${probe}/visitor`, `${probe}/account`, '/app/api/v1/brands'])
    for (const person of [null, owner]) {
      const response = await browse(server, person, path, { headers })
      expect([path, outcome(response)]).toEqual([path, '401 session_required'])
      expect(response.headers.get('www-authenticate')).toBeNull()
    }
})

test('what changes something must come from a page of ours', async () => {
  const post = (headers: Record<string, string>) =>
    browse(server, owner, `${probe}/member`, { method: 'POST', json: { name: 'a' }, headers })
  expect(outcome(await post({}))).toBe(200)
  for (const site of ['cross-site', 'same-site', 'none'])
    expect(outcome(await post({ 'sec-fetch-site': site, origin: server.url }))).toBe('403 cross_site_request')
  expect(
    outcome(
      await browse(server, owner, '/app/api/v1/brands', {
        method: 'POST',
        headers: { 'sec-fetch-site': 'cross-site' },
      }),
    ),
  ).toBe('403 cross_site_request')
  const older = (headers: Record<string, string>) =>
    fetch(`${server.url}${probe}/member`, {
      method: 'POST',
      body: '{"name":"a"}',
      headers: { 'content-type': 'application/json', cookie: `mailroom=${owner.cookie}`, ...headers },
    })
  expect((await older({ origin: server.url })).status).toBe(200)
  for (const headers of [{}, { origin: 'null' }, { origin: 'http://evil.test' }])
    expect((await older(headers as Record<string, string>)).status).toBe(403)
  expect(outcome(await browse(server, owner, `${probe}/member`, { headers: { 'sec-fetch-site': 'cross-site' } }))).toBe(
    200,
  )
})

test('over plain http, from anywhere but this machine, there is no dashboard, and it says what to do', async () => {
  const at = (host: string, path: string, headers = {}) =>
    fetch(server.url + path, { headers: { host, cookie: `mailroom=${owner.cookie}`, ...headers } })
  for (const path of [`${probe}/account`, '/app/api/v1/brands', '/app']) {
    const refused = await at('mail.example', path)
    const { error } = (await refused.json()) as { error: { code: string; message: string } }
    expect([path, refused.status, error.code]).toEqual([path, 403, 'https_required'])
    expect(error.message).toStartWith(
      'The dashboard needs https, and this is http://mail.example: set MAILROOM_PUBLIC_URL',
    )
  }
  const page = await at('mail.example', '/app/welcome', { accept: 'text/html' })
  expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('<p>The dashboard needs https, and this is http://mail.example: ')
  for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080'])
    expect([host, (await at(host, `${probe}/account`)).status]).toEqual([host, 200])
})

test('a body is JSON, of a bounded size, and validated', async () => {
  const send = (body: string, type = 'application/json') =>
    fetch(`${server.url}${probe}/member`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, cookie: `mailroom=${owner.cookie}`, 'sec-fetch-site': 'same-origin' },
    })
  expect((await send('{"name":"a"}', 'text/plain')).status).toBe(415)
  expect((await send('a=b', 'application/x-www-form-urlencoded')).status).toBe(415)
  expect((await send('{')).status).toBe(400)
  expect((await send('{"name":"a","more":1}')).status).toBe(400)
  expect((await send(`{"name":"${'a'.repeat(16 * 1024 * 1024)}"}`)).status).toBe(413)
})

test('a response sets cookies that no script and no other site gets, is not stored and has its id', async () => {
  const response = await browse(server, null, `${probe}/cookie`, { method: 'POST', json: { name: 'a' } })
  expect(response.json).toEqual({ isSecure: false })
  expect(response.headers.getSetCookie()).toEqual(['mailroom=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict'])
  for (const { headers } of [
    response,
    await browse(server, null, `${probe}/nothing`),
    await browse(server, owner, '/app/api/v1/brands'),
  ]) {
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).toStartWith('req_')
  }
})

test('what is no route is 404, also for a signed-in person, and never the page', async () => {
  expect(outcome(await browse(server, owner, '/app/api/nothing'))).toBe('404 not_found')
  expect(outcome(await browse(server, owner, '/app/api'))).toBe('404 not_found')
  const wrongMethod = await browse(server, owner, `${probe}/member`, { method: 'DELETE' })
  expect([outcome(wrongMethod), wrongMethod.headers.get('allow')]).toEqual(['404 not_found', 'GET, HEAD, POST'])
  const mounted = await browse(server, owner, '/app/api/v1/brands', { method: 'DELETE' })
  expect([outcome(mounted), mounted.headers.get('allow')]).toEqual(['404 not_found', 'GET, HEAD, POST'])
})

test('the routes of the API take the member as their caller', async () => {
  const created = await browse(server, owner, '/app/api/v1/brands', {
    method: 'POST',
    json: { name: 'Mine', slug: 'mine' },
  })
  expect(outcome(created)).toBe(201)
  const listed = await browse(server, owner, `/app/api/v1/brands?organization=${server.organizationId}`)
  expect(listed.json.data).toEqual([created.json])
  expect(outcome(await browse(server, null, '/app/api/v1/brands'))).toBe('401 session_required')
  expect(outcome(await browse(server, owner, '/app/api/v1/brands?nonsense=1'))).toBe('400 invalid_request')
  const member = await signInAs(server, { role: 'member', brandIds: [created.json.id], permissions: ['email:read'] })
  const refused = await browse(server, member, '/app/api/v1/brands')
  expect([outcome(refused), refused.json.error.message]).toEqual([
    '403 insufficient_scope',
    'Your access lacks the permission brands:read; ask an owner of the organization.',
  ])
})

test('Model Context Protocol takes keys alone', async () => {
  for (const path of [
    '/app/api/v1/mcp',
    '/app/api/v1/%6dcp',
    '/app/api/v1//mcp',
    '/app/api/v1/mcp/',
    '/app/api/v1/x/../mcp',
  ])
    expect([
      path,
      outcome(await browse(server, owner, path, { method: 'POST', json: { jsonrpc: '2.0', id: 1, method: 'ping' } })),
    ]).toEqual([path, '404 not_found'])
})

test('an idempotency key counts for the member', async () => {
  const send = (person: SignedIn, key: string) =>
    browse(server, person, '/app/api/v1/probe/stored', {
      method: 'POST',
      json: {},
      headers: { 'idempotency-key': key },
    })
  const first = await send(owner, 'once-and-again')
  const again = await send(owner, 'once-and-again')
  expect([first.status, again.json, again.headers.get('idempotent-replay')]).toEqual([200, first.json, 'true'])
  const another = await signInAs(server, { role: 'owner' })
  expect(outcome(await send(another, 'once-and-again'))).toBe('400 idempotency_key_reused')
})

test('HEAD has no effects and no body', async () => {
  const runs = work.runs
  const head = await browse(server, owner, '/app/api/v1/probe/effect', { method: 'HEAD' })
  expect([head.status, head.text, work.runs]).toEqual([200, '', runs])
  await browse(server, owner, '/app/api/v1/probe/effect')
  expect(work.runs).toBe(runs + 1)
})

test('a route can want a recent factor', async () => {
  const late = await signInAs(server, { role: 'owner' })
  const before = await browse(server, late, '/app/api/v1/probe/effect')
  expect(before.status).toBe(200)
  await server.database.db
    .updateTable('sessions')
    .set({ confirmed_at: '2020-01-01 00:00:00.000000' as never })
    .where('id', '=', late.sessionId)
    .execute()
  expect(outcome(await browse(server, late, `${probe}/member`))).toBe(200)
  expect(outcome(await browse(server, late, `${probe}/member`, { method: 'POST', json: { name: 'a' } }))).toBe(
    '403 confirmation_required',
  )
})

test('an owner without a factor gets no further than their own account, but on the machine itself', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.9' }
  expect(outcome(await browse(server, owner, '/app/api/v1/brands'))).toBe(200)
  expect(outcome(await browse(server, owner, '/app/api/v1/brands', { headers }))).toBe('403 factor_required')
  expect(outcome(await browse(server, owner, `${probe}/member`, { headers }))).toBe('403 factor_required')
  expect(outcome(await browse(server, owner, `${probe}/account`, { headers }))).toBe(200)
})

test('an organization and a brand are named in headers, or in the query of a link', async () => {
  const brand = await server.call('POST', '/v1/brands', { json: { name: 'Named', slug: 'named' } })
  const at = { organization: server.organizationId, brand: brand.json.id }
  const headers = { 'mailroom-organization': at.organization, 'mailroom-brand': at.brand }
  expect((await browse(server, owner, `${probe}/member`, { headers })).json).toEqual(at)
  expect((await browse(server, owner, `${probe}/member?${new URLSearchParams(at)}`)).json).toEqual(at)
  expect((await browse(server, owner, `${probe}/member`)).json).toEqual({ ...at, brand: null })
  expect(outcome(await browse(server, owner, `${probe}/member?organization=${at.organization}&organization=b`))).toBe(
    '400 invalid_request',
  )
  const other = await server.newOrganization()
  expect(outcome(await browse(server, owner, `${probe}/member?organization=${other}`))).toBe('404 not_found')
})

test('a session that ended or expired is refused at the next request', async () => {
  const person = await signInAs(server, { role: 'owner' })
  expect(outcome(await browse(server, person, '/app/api/v1/brands'))).toBe(200)
  await server.database.db.deleteFrom('sessions').where('id', '=', person.sessionId).execute()
  expect(outcome(await browse(server, person, '/app/api/v1/brands'))).toBe('401 session_required')
})

test('nothing of these requests stands in the request log of the organization', async () => {
  await browse(server, owner, '/app/api/v1/brands')
  await Bun.sleep(1500)
  const rows = await server.database.db
    .selectFrom('request_log')
    .select('path')
    .where('path', 'like', '/app/%')
    .execute()
  expect(rows).toEqual([])
})
