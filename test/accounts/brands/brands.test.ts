import { afterAll, beforeAll, expect, test } from 'bun:test'
import { loadBrand } from '../../../src/accounts/brands/brands.ts'
import { Refusal } from '../../../src/base/refusal.ts'
import { openTestHttpServer, type TestHttpServer } from '../../harness/http-server.ts'

let door: TestHttpServer
let slugs = 0

beforeAll(async () => {
  door = await openTestHttpServer()
})
afterAll(() => door.close())

async function newBrand(name = 'Acme'): Promise<{ id: string; slug: string; created_at: string; updated_at: string }> {
  return (await door.call('POST', '/v1/brands', { json: { name, slug: `brand-${++slugs}` } })).json
}

test('makes a brand', async () => {
  const made = await door.call('POST', '/v1/brands', { json: { name: 'Ümläut & Söhne', slug: 'umlaut' } })
  expect(made.status).toBe(201)
  expect(made.json).toEqual({
    id: expect.stringMatching(/^brd_[0-9a-z]{26}$/),
    organization_id: door.organizationId,
    name: 'Ümläut & Söhne',
    slug: 'umlaut',
    status: 'pending',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    updated_at: made.json.created_at,
  })
  expect((await door.call('GET', `/v1/brands/${made.json.id}`)).json).toEqual(made.json)
})

test('refuses names and slugs that are none', async () => {
  const refused = async (json: object) => {
    const { status, json: answer } = await door.call('POST', '/v1/brands', { json })
    return [status, answer.error?.code, answer.error?.param]
  }
  for (const slug of ['', 'A', '-a', 'a b', 'a'.repeat(64), 'ä', 1, 'a\n'])
    expect([slug, ...(await refused({ name: 'A', slug }))]).toEqual([slug, 400, 'invalid_request', 'slug'])
  for (const name of ['', ' ', 'a\r\nb', 'a\u0000', 'a'.repeat(121), {}])
    expect(await refused({ name, slug: 'fine' })).toEqual([400, 'invalid_request', 'name'])
})

test('takes a slug once in an organization, also when asked twice at once', async () => {
  const make = (key?: string) =>
    door.call('POST', '/v1/brands', { json: { name: 'A', slug: 'once' }, ...(key ? { key } : {}) })
  const calls = await Promise.all([make(), make(), make(), make()])
  expect(calls.map(call => call.status).sort()).toEqual([201, 409, 409, 409])
  expect(calls.find(call => call.status === 409)?.json.error).toMatchObject({
    code: 'slug_taken',
    requirement: 'choose_another',
    param: 'slug',
    retryable: false,
  })
  const { key } = await door.newKey({ organizationId: await door.newOrganization() })
  expect((await make(key)).status).toBe(201)
})

test('changes what is given and keeps the rest', async () => {
  const brand = await newBrand()
  const renamed = await door.call('PATCH', `/v1/brands/${brand.id}`, { json: { name: 'New' } })
  expect(renamed.json).toMatchObject({ id: brand.id, name: 'New', slug: brand.slug, created_at: brand.created_at })
  expect(renamed.json.updated_at > brand.updated_at).toBe(true)
  const other = await newBrand()
  const taken = await door.call('PATCH', `/v1/brands/${brand.id}`, { json: { slug: other.slug } })
  expect([taken.status, taken.json.error.code, taken.json.error.param]).toEqual([409, 'slug_taken', 'slug'])
  expect((await door.call('PATCH', `/v1/brands/${brand.id}`, { json: { slug: brand.slug } })).status).toBe(200)
  expect((await door.call('PATCH', `/v1/brands/${brand.id}`, { json: { id: 'x' } })).json.error.param).toBe('id')
})

test('marks a brand ready, as often as it is asked', async () => {
  const brand = await newBrand()
  const first = await door.call('POST', `/v1/brands/${brand.id}/provision`)
  expect([first.status, first.json.status]).toEqual([200, 'ready'])
  expect((await door.call('POST', `/v1/brands/${brand.id}/provision`)).json).toEqual(first.json)
})

test('keeps organizations apart: a foreign brand is as one that does not exist', async () => {
  const brand = await newBrand()
  const { key } = await door.newKey({ organizationId: await door.newOrganization() })
  expect((await door.call('GET', '/v1/brands', { key })).json).toEqual({ data: [] })
  for (const [method, path, json] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'Mine' }],
    ['POST', '/provision', undefined],
  ] as const) {
    const foreign = await door.call(method, `/v1/brands/${brand.id}${path}`, { key, json })
    const absent = await door.call(method, `/v1/brands/brd_00000000000000000000000000${path}`, { key, json })
    expect([foreign.status, foreign.json.error.code]).toEqual([404, 'not_found'])
    expect(foreign.text.replace(brand.id, 'X')).toBe(absent.text.replace('brd_00000000000000000000000000', 'X'))
  }
})

test('keeps a restricted key to its brand', async () => {
  const [own, other] = [await newBrand(), await newBrand()]
  const { key } = await door.newKey({ brandId: own.id })
  const listed = await door.call('GET', '/v1/brands', { key })
  expect(listed.json.data.map((each: { id: string }) => each.id)).toEqual([own.id])
  expect((await door.call('GET', `/v1/brands/${own.id}`, { key })).status).toBe(200)
  expect((await door.call('POST', `/v1/brands/${own.id}/provision`, { key })).status).toBe(200)
  for (const called of [
    await door.call('GET', `/v1/brands/${other.id}`, { key }),
    await door.call('POST', `/v1/brands/${other.id}/provision`, { key }),
    await door.call('PATCH', `/v1/brands/${own.id}`, { key, json: { name: 'Mine' } }),
    await door.call('POST', '/v1/brands', { key, json: { name: 'Mine', slug: 'mine' } }),
  ])
    expect([called.status, called.json.error.code]).toEqual([403, 'brand_restricted'])
})

test('lists brands whole, oldest first', async () => {
  const brand = await newBrand('Last')
  const { status, json } = await door.call('GET', '/v1/brands')
  expect([status, Object.keys(json)]).toEqual([200, ['data']])
  expect(json.data.at(-1)).toEqual(brand)
})

test('needs the scopes of SPEC', async () => {
  const { key: reading } = await door.newKey({ scopes: ['brands:read'] })
  const { key: writing } = await door.newKey({ scopes: ['brands:write'] })
  expect((await door.call('POST', '/v1/brands', { key: reading, json: {} })).json.error.code).toBe('insufficient_scope')
  expect((await door.call('GET', '/v1/brands', { key: writing })).json.error.code).toBe('insufficient_scope')
})

test('says of a brand that a request names whether the caller may use it', async () => {
  const brand = await newBrand()
  const { db } = door.database
  const owner = { organizationId: door.organizationId, brandId: null }
  expect((await loadBrand(db, owner, brand.id)).slug).toBe(brand.slug)
  const refusal = await loadBrand(db, owner, 'brd_none', 'brand_id').catch(error => error)
  expect(refusal).toBeInstanceOf(Refusal)
  expect([refusal.code, refusal.detail.param]).toEqual(['not_found', 'brand_id'])
})
