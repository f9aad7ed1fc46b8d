import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadBrand } from '../../../src/accounts/brands/brands.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { expectConditionalChange } from '../../harness/conditional-change.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'

let server: TestHttpServer
let slugs = 0

beforeAll(async () => {
  server = await openTestHttpServer()
})
afterAll(() => server.close())

async function newBrand(name = 'Acme'): Promise<{ id: string; slug: string; created_at: string; updated_at: string }> {
  return (await server.call('POST', '/v1/brands', { json: { name, slug: `brand-${++slugs}` } })).json
}

test('creates a brand', async () => {
  const created = await server.call('POST', '/v1/brands', { json: { name: 'Ümläut & Söhne', slug: 'umlaut' } })
  expect(created.status).toBe(201)
  expect(created.json).toEqual({
    id: expect.stringMatching(/^brd_[0-9a-z]{26}$/),
    organization_id: server.organizationId,
    name: 'Ümläut & Söhne',
    slug: 'umlaut',
    status: 'pending',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    updated_at: created.json.created_at,
  })
  expect((await server.call('GET', `/v1/brands/${created.json.id}`)).json).toEqual(created.json)
})

test('refuses invalid names and slugs', async () => {
  const refused = async (json: object) => {
    const { status, json: response } = await server.call('POST', '/v1/brands', { json })
    return [status, response.error?.code, response.error?.param]
  }
  for (const slug of ['', 'A', '-a', 'a b', 'a'.repeat(64), 'ä', 1, 'a\n'])
    expect([slug, ...(await refused({ name: 'A', slug }))]).toEqual([slug, 400, 'invalid_request', 'slug'])
  for (const name of ['', ' ', 'a\r\nb', 'a\u0000', 'a'.repeat(121), {}])
    expect(await refused({ name, slug: 'fine' })).toEqual([400, 'invalid_request', 'name'])
})

test('accepts a slug once in an organization, also from concurrent requests', async () => {
  const make = (key?: string) =>
    server.call('POST', '/v1/brands', { json: { name: 'A', slug: 'once' }, ...(key ? { key } : {}) })
  const calls = await Promise.all([make(), make(), make(), make()])
  expect(calls.map(call => call.status).sort()).toEqual([201, 409, 409, 409])
  expect(calls.find(call => call.status === 409)?.json.error).toMatchObject({
    code: 'slug_taken',
    requirement: 'choose_another',
    param: 'slug',
    retryable: false,
  })
  const { key } = await server.newKey({ organizationId: await server.newOrganization() })
  expect((await make(key)).status).toBe(201)
})

test('changes the given fields and keeps the others', async () => {
  const brand = await newBrand()
  const renamed = await server.call('PATCH', `/v1/brands/${brand.id}`, { json: { name: 'New' } })
  expect(renamed.json).toMatchObject({ id: brand.id, name: 'New', slug: brand.slug, created_at: brand.created_at })
  expect(renamed.json.updated_at > brand.updated_at).toBe(true)
  const other = await newBrand()
  const taken = await server.call('PATCH', `/v1/brands/${brand.id}`, { json: { slug: other.slug } })
  expect([taken.status, taken.json.error.code, taken.json.error.param]).toEqual([409, 'slug_taken', 'slug'])
  expect((await server.call('PATCH', `/v1/brands/${brand.id}`, { json: { slug: brand.slug } })).status).toBe(200)
  expect((await server.call('PATCH', `/v1/brands/${brand.id}`, { json: { id: 'x' } })).json.error.param).toBe('id')
})

test('sets a brand to ready, also when repeated', async () => {
  const brand = await newBrand()
  const first = await server.call('POST', `/v1/brands/${brand.id}/provision`)
  expect([first.status, first.json.status]).toEqual([200, 'ready'])
  expect((await server.call('POST', `/v1/brands/${brand.id}/provision`)).json).toEqual(first.json)
})

test("keeps organizations apart: another organization's brand does not exist", async () => {
  const brand = await newBrand()
  const { key } = await server.newKey({ organizationId: await server.newOrganization() })
  expect((await server.call('GET', '/v1/brands', { key })).json).toEqual({ data: [] })
  for (const [method, path, json] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'Mine' }],
    ['POST', '/provision', undefined],
  ] as const) {
    const foreign = await server.call(method, `/v1/brands/${brand.id}${path}`, { key, json })
    const absent = await server.call(method, `/v1/brands/brd_00000000000000000000000000${path}`, { key, json })
    expect([foreign.status, foreign.json.error.code]).toEqual([404, 'not_found'])
    expect(foreign.text.replace(brand.id, 'X')).toBe(absent.text.replace('brd_00000000000000000000000000', 'X'))
  }
})

test('limits a restricted key to its brand', async () => {
  const [own, other] = [await newBrand(), await newBrand()]
  const { key } = await server.newKey({ brandId: own.id })
  const listed = await server.call('GET', '/v1/brands', { key })
  expect(listed.json.data.map((item: { id: string }) => item.id)).toEqual([own.id])
  expect((await server.call('GET', `/v1/brands/${own.id}`, { key })).status).toBe(200)
  expect((await server.call('POST', `/v1/brands/${own.id}/provision`, { key })).status).toBe(200)
  for (const called of [
    await server.call('GET', `/v1/brands/${other.id}`, { key }),
    await server.call('POST', `/v1/brands/${other.id}/provision`, { key }),
    await server.call('PATCH', `/v1/brands/${own.id}`, { key, json: { name: 'Mine' } }),
    await server.call('POST', '/v1/brands', { key, json: { name: 'Mine', slug: 'mine' } }),
  ])
    expect([called.status, called.json.error.code]).toEqual([403, 'brand_restricted'])
})

test('lists complete brands, oldest first', async () => {
  const brand = await newBrand('Last')
  const { status, json } = await server.call('GET', '/v1/brands')
  expect([status, Object.keys(json)]).toEqual([200, ['data']])
  expect(json.data.at(-1)).toEqual(brand)
})

test('requires the documented scopes', async () => {
  const { key: reading } = await server.newKey({ scopes: ['brands:read'] })
  const { key: writing } = await server.newKey({ scopes: ['brands:write'] })
  expect((await server.call('POST', '/v1/brands', { key: reading, json: {} })).json.error.code).toBe(
    'insufficient_scope',
  )
  expect((await server.call('GET', '/v1/brands', { key: writing })).json.error.code).toBe('insufficient_scope')
})

test('loads a brand for a caller who may use it', async () => {
  const brand = await newBrand()
  const { db } = server.database
  const owner = { organizationId: server.organizationId, brandId: null }
  expect((await loadBrand(db, owner, brand.id)).slug).toBe(brand.slug)
  const refusal = await loadBrand(db, owner, 'brd_none', 'brand_id').catch(error => error)
  expect(refusal).toBeInstanceOf(Refusal)
  expect([refusal.code, refusal.detail.param]).toEqual(['not_found', 'brand_id'])
})

test('a change can depend on what its caller read', async () => {
  const { id } = await newBrand()
  await expectConditionalChange(server, `/v1/brands/${id}`, [{ name: 'First' }, { name: 'Second' }])
})
