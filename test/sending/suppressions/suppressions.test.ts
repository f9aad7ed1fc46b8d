import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { inTransaction } from '../../../src/base/database/database.ts'
import type { Id } from '../../../src/base/ids.ts'
import { suppressionRoutes } from '../../../src/sending/suppressions/routes.ts'
import { suppress } from '../../../src/sending/suppressions/suppress.ts'
import { expireSuppressions } from '../../../src/sending/suppressions/suppressions.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'
import { makeDomain } from '../fixtures.ts'

let server: TestHttpServer
let brandId: Id<'brd'>
beforeAll(async () => {
  server = await openTestHttpServer({ features: ({ database: { db }, clock }) => [suppressionRoutes({ db, clock })] })
  brandId = (await makeDomain(server.database.db, server.organizationId, 'acme.example')).brandId
})
afterAll(() => server.close())

const list = '/v1/suppressions'
const add = (json: object, headers = {}) => server.call('POST', list, { json: { brand_id: brandId, ...json }, headers })
const check = async (email: string, brand: string = brandId) =>
  (await server.call('GET', `${list}/check?email=${encodeURIComponent(email)}&brand_id=${brand}`)).json
const remove = (email: string, query = `?brand_id=${brandId}`) =>
  server.call('DELETE', `${list}/${encodeURIComponent(email)}${query}`)
const inAnHour = () => new Date(Date.parse(`${server.clock.now().replace(' ', 'T')}Z`) + 3_600_000).toISOString()

/** As the unsubscribe link and the reports of bounces do. */
const note = (email: string, reason: 'unsubscribe' | 'hard_bounce') =>
  inTransaction(server.database.db, tx =>
    suppress(tx, { organizationId: server.organizationId, brandId, email, reason }, server.clock.now()),
  )

test('suppresses, checks and removes again', async () => {
  const made = await add({ email: 'bob@b.example' })
  expect([made.status, made.json]).toEqual([
    201,
    {
      email: 'bob@b.example',
      brand_id: brandId,
      reason: 'manual',
      source_email_id: null,
      evidence: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      expires_at: null,
    },
  ])
  const again = await add({ email: 'bob@b.example', expires_at: inAnHour() })
  expect([again.status, again.json]).toEqual([200, made.json])
  expect(await check('bob@b.example')).toEqual({ email: 'bob@b.example', suppressed: true, suppression: made.json })
  expect((await server.call('GET', list)).json).toEqual({ data: [made.json], next_cursor: null })
  const gone = await remove('bob@b.example')
  expect([gone.status, gone.json]).toEqual([200, { email: 'bob@b.example', deleted: true }])
  expect(await check('bob@b.example')).toEqual({ email: 'bob@b.example', suppressed: false, suppression: null })
  expect((await remove('bob@b.example')).json.error.code).toBe('not_found')
})

test('treats an address in any spelling as the same', async () => {
  expect((await add({ email: ' Cy <CY+a@BÜCHER.example> ' })).json.email).toBe('cy+a@xn--bcher-kva.example')
  expect((await add({ email: 'cy+A@xn--bcher-kva.EXAMPLE' })).status).toBe(200)
  expect(await check('cY+a@bücher.example')).toMatchObject({ email: 'cy+a@xn--bcher-kva.example', suppressed: true })
  expect((await remove('Cy+a@Bücher.example')).json).toEqual({ email: 'cy+a@xn--bcher-kva.example', deleted: true })
  expect((await add({ email: '"a b/c%d"@b.example' })).status).toBe(201)
  expect((await remove('"a b/c%d"@b.example')).status).toBe(200)
})

test('an expired one counts as absent, and can be created again', async () => {
  const first = await add({ email: 'dee@d.example', expires_at: inAnHour() })
  expect(first.json.expires_at).toMatch(/\d{6}Z$/)
  server.clock.forward(2 * 3_600_000)
  expect(await check('dee@d.example')).toMatchObject({ suppressed: false, suppression: null })
  expect((await server.call('GET', `${list}?brand_id=${brandId}&reason=manual`)).json.data).toEqual([])
  expect((await remove('dee@d.example')).status).toBe(404)
  const second = await add({ email: 'dee@d.example' })
  expect([second.status, second.json.expires_at]).toEqual([201, null])
  expect(second.json.created_at > first.json.expires_at).toBe(true)
})

describe('who unsubscribed stays so', () => {
  test('when a suppression for another reason is added and expires', async () => {
    await note('eve@e.example', 'unsubscribe')
    const paused = await add({ email: 'eve@e.example', expires_at: inAnHour() })
    expect([paused.status, paused.json.reason]).toEqual([201, 'manual'])
    server.clock.forward(2 * 3_600_000)
    expect((await check('eve@e.example')).suppression).toMatchObject({ reason: 'unsubscribe', expires_at: null })
  })

  test('when they do so during a suppression that expires, also once that is deleted', async () => {
    await add({ email: 'flo@f.example', expires_at: inAnHour() })
    await note('flo@f.example', 'unsubscribe')
    expect((await check('flo@f.example')).suppression).toMatchObject({ reason: 'manual' })
    server.clock.forward(2 * 3_600_000)
    await add({ email: 'gus@g.example', expires_at: inAnHour() })
    server.clock.forward(2 * 3_600_000)
    expect(await expireSuppressions({ db: server.database.db, clock: server.clock }, 100)).toBe(1)
    expect((await check('flo@f.example')).suppression).toMatchObject({ reason: 'unsubscribe', expires_at: null })
    const filtered = await server.call('GET', `${list}?reason=unsubscribe`)
    expect(filtered.json.data.map((suppression: { email: string }) => suppression.email)).toContain('flo@f.example')
  })

  test('and a permanent bounce replaces one that expires, but no other', async () => {
    await add({ email: 'hal@h.example', expires_at: inAnHour() })
    expect((await note('hal@h.example', 'hard_bounce')).row).toMatchObject({ reason: 'hard_bounce', expires_at: null })
    await add({ email: 'ida@i.example' })
    expect((await note('ida@i.example', 'hard_bounce')).row.reason).toBe('manual')
  })
})

test('refuses what is not an address, a time in the future, a brand, or a cursor', async () => {
  const cases: readonly (readonly [Promise<{ status: number; json: { error: object } }>, number, string, string])[] = [
    [add({ email: 'bob' }), 400, 'invalid_request', 'email'],
    [add({ email: 'a@b.example, c@d.example' }), 400, 'invalid_request', 'email'],
    [add({}), 400, 'invalid_request', 'email'],
    [add({ email: 'a@b.example', reason: 'complaint' }), 400, 'invalid_request', 'reason'],
    [add({ email: 'a@b.example', expires_at: '2020-01-01T00:00:00Z' }), 400, 'invalid_request', 'expires_at'],
    [add({ email: 'a@b.example', expires_at: 'soon' }), 400, 'invalid_request', 'expires_at'],
    [add({ email: 'a@b.example', brand_id: null }), 400, 'brand_required', 'brand_id'],
    [add({ email: 'a@b.example', brand_id: 'brd_x' }), 404, 'not_found', 'brand_id'],
    [remove('a@b.example', ''), 400, 'brand_required', 'brand_id'],
    [remove('nobody', `?brand_id=${brandId}`), 400, 'invalid_request', 'email'],
    [server.call('GET', `${list}/check?email=a@b.example`), 400, 'brand_required', 'brand_id'],
    [server.call('GET', `${list}/check?brand_id=${brandId}`), 400, 'invalid_request', 'email'],
    [server.call('GET', `${list}?cursor=xyz`), 400, 'invalid_cursor', 'cursor'],
    [server.call('GET', `${list}?cursor=WyJ4Il0`), 400, 'invalid_cursor', 'cursor'],
    [server.call('GET', `${list}?reason=spite`), 400, 'invalid_request', 'reason'],
    [server.call('GET', `${list}?brand_id=brd_x`), 404, 'not_found', 'brand_id'],
  ]
  for (const [asked, status, code, param] of cases) {
    const answer = await asked
    expect([answer.status, answer.json.error]).toMatchObject([status, { code, param }])
  }
})

test('keeps brands and organizations apart', async () => {
  const other = (await makeDomain(server.database.db, server.organizationId, 'other.example')).brandId
  const { key } = await server.newKey({ brandId: other })
  await add({ email: 'joe@j.example' })
  expect(await check('joe@j.example', other)).toMatchObject({ suppressed: false })
  const own = await server.call('POST', list, { key, json: { email: 'joe@j.example' } })
  expect([own.status, own.json.brand_id]).toEqual([201, other])
  expect((await server.call('GET', list, { key })).json.data).toEqual([own.json])
  expect((await server.call('GET', `${list}/check?email=joe@j.example`, { key })).json.suppressed).toBe(true)
  for (const [method, path, json] of [
    ['GET', `?brand_id=${brandId}`, undefined],
    ['GET', `/check?email=joe@j.example&brand_id=${brandId}`, undefined],
    ['DELETE', `/joe@j.example?brand_id=${brandId}`, undefined],
    ['POST', '', { email: 'joe@j.example', brand_id: brandId }],
  ] as const) {
    const refused = await server.call(method, `${list}${path}`, { key, json })
    expect([refused.status, refused.json.error]).toMatchObject([403, { code: 'brand_restricted', param: 'brand_id' }])
  }
  expect((await server.call('DELETE', `${list}/joe@j.example`, { key })).status).toBe(200)
  expect(await check('joe@j.example')).toMatchObject({ suppressed: true })
  const { key: stranger } = await server.newKey({ organizationId: await server.newOrganization() })
  expect((await server.call('GET', list, { key: stranger })).json.data).toEqual([])
  expect((await server.call('DELETE', `${list}/joe@j.example?brand_id=${brandId}`, { key: stranger })).status).toBe(404)
})

test('pages through the list, newest first, each once', async () => {
  const paged = (await makeDomain(server.database.db, server.organizationId, 'paged.example')).brandId
  const emails = Array.from({ length: 25 }, (_, i) => `p${i}@p.example`)
  for (const email of emails) await add({ email, brand_id: paged })
  const seen: string[] = []
  let cursor = ''
  do {
    const page = (await server.call('GET', `${list}?brand_id=${paged}&limit=10${cursor && `&cursor=${cursor}`}`)).json
    seen.push(...page.data.map((suppression: { email: string }) => suppression.email))
    cursor = page.next_cursor ?? ''
  } while (cursor)
  expect(new Set(seen)).toEqual(new Set(emails))
  expect(seen).toHaveLength(25)
})

test('twenty at once create one, and a repeated Idempotency-Key gives the first response', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => add({ email: 'kim@k.example' })))
  expect(answers.map(answer => answer.status).sort()).toEqual([...Array(19).fill(200), 201])
  expect(new Set(answers.map(answer => answer.text)).size).toBe(1)
  const headers = { 'idempotency-key': 'suppress-lee' }
  const first = await add({ email: 'lee@l.example' }, headers)
  const second = await add({ email: 'lee@l.example' }, headers)
  expect([second.status, second.text, second.headers.get('idempotent-replay')]).toEqual([201, first.text, 'true'])
})
