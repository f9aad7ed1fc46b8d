import { afterAll, beforeAll, expect, test } from 'bun:test'
import { permissions } from '../../../src/accounts/keys/permissions.ts'
import { scopes } from '../../../src/api/scope.ts'
import type { Id } from '../../../src/base/ids.ts'
import { expectConditionalChange } from '../../harness/conditional-change.ts'
import type { TestHttpServer } from '../../harness/http-server.ts'
import { limitedTo, newBrand, newMember, openMembersServer, outcome } from '../fixtures.ts'

let server: TestHttpServer
let brands: readonly Id<'brd'>[]

beforeAll(async () => {
  server = await openMembersServer()
  brands = [await newBrand(server), await newBrand(server)].sort()
})
afterAll(() => server.close())

/** A separate organization, so that its owners can be counted. */
async function createCompany() {
  const organizationId = await server.newOrganization()
  const { key } = await server.newKey({ organizationId })
  const owner = () => newMember(server, { role: 'owner' }, organizationId)
  const admin = () => newMember(server, { role: 'admin' }, organizationId)
  const keyOf = async (makerId: Id<'mem'>) => (await server.newKey({ organizationId, makerId })).key
  return { organizationId, key, owner, admin, keyOf }
}

const remove = (id: string, key: string) => server.call('DELETE', `/v1/members/${id}`, { key })

async function idsOf(key: string): Promise<readonly string[]> {
  const { json } = await server.call('GET', '/v1/members', { key })
  return json.data.map((item: { id: string }) => item.id)
}

test('shows members with their brands and permissions: an owner has all', async () => {
  const { key, owner, organizationId } = await createCompany()
  const ownerId = await owner()
  const brand = await newBrand(server, key)
  const memberId = await newMember(server, limitedTo([brand], ['api_access', 'inbox:read']), organizationId)
  const listed = await server.call('GET', '/v1/members', { key })
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  const person = { email: expect.stringMatching(/@friend\.test$/), name: expect.stringMatching(/^Person/) }
  const common = { ...person, created_at: time, updated_at: time, last_active_at: null }
  expect([listed.status, listed.json]).toEqual([
    200,
    {
      data: [
        { id: ownerId, role: 'owner', brand_ids: null, permissions: [...permissions], ...common },
        { id: memberId, role: 'member', brand_ids: [brand], permissions: ['inbox:read', 'api_access'], ...common },
      ],
      next_cursor: null,
    },
  ])
})

test('lists members page by page, each once, while others join and leave', async () => {
  const { key, admin, organizationId } = await createCompany()
  const early: string[] = []
  for (let i = 0; i < 7; i++) early.push(await admin())
  const gone = early.pop() ?? ''
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const { json } = await server.call('GET', `/v1/members?limit=2${query}`, { key })
    expect(json.data.length).toBeLessThanOrEqual(2)
    seen.push(...json.data.map((item: { id: string }) => item.id))
    cursor = json.next_cursor
    if (seen.length === 2) await remove(gone, key)
    if (seen.length === 4) await newMember(server, { role: 'admin' }, organizationId)
  } while (cursor !== null)
  expect(seen.filter(value => early.includes(value))).toEqual(early.toSorted())
  expect(new Set(seen).size).toBe(seen.length)
  for (const [query, status, code] of [
    ['cursor=nonsense', 400, 'invalid_cursor'],
    ['limit=0', 400, 'invalid_request'],
    ['limit=500', 200, undefined],
    ['page=2', 400, 'invalid_request'],
  ] as const)
    expect([query, ...outcome(await server.call('GET', `/v1/members?${query}`, { key })).slice(0, 2)]).toEqual([
      query,
      status,
      code,
    ])
})

test('changes the given fields of a member and keeps the others', async () => {
  const id = await newMember(server, limitedTo(brands, ['inbox:read']))
  const patch = (json: object) => server.call('PATCH', `/v1/members/${id}`, { json })
  const granted = await patch({ permissions: ['api_access', 'email:send', 'email:send'] })
  expect(granted.json).toMatchObject({ id, brand_ids: brands, permissions: ['email:send', 'api_access'] })
  const moved = await patch({ brand_ids: [brands[1], brands[1]] })
  expect(moved.json).toMatchObject({ brand_ids: [brands[1]], permissions: ['email:send', 'api_access'] })
  expect((await patch({ permissions: [] })).json.permissions).toEqual([])
  const { json } = await server.call('GET', '/v1/members?limit=200')
  expect(json.data.find((item: { id: string }) => item.id === id)).toMatchObject({
    brand_ids: [brands[1]],
    permissions: [],
  })
})

test('gets one member, and a change can depend on what its caller read', async () => {
  const id = await newMember(server, limitedTo(brands, ['inbox:read']))
  const { data } = (await server.call('GET', '/v1/members?limit=200')).json
  const shown = data.find((item: { id: string }) => item.id === id)
  expect(shown.updated_at).toBe(shown.created_at)
  expect((await server.call('GET', `/v1/members/${id}`)).json).toEqual(shown)
  await expectConditionalChange(server, `/v1/members/${id}`, [
    { brand_ids: [brands[1]] },
    { permissions: ['email:send'] },
  ])
})

test('of two who change a member at the same moment after the same reading, one is refused', async () => {
  const id = await newMember(server, limitedTo(brands, ['inbox:read']))
  for (let round = 0; round < 5; round++) {
    const { updated_at } = (await server.call('GET', `/v1/members/${id}`)).json
    // Each is another access than that of the round before.
    const changes = [
      { brand_ids: [brands[0]], permissions: ['email:send', 'api_access'].slice(round % 2) },
      { permissions: ['inbox:read', 'email:read'].slice(round % 2) },
      { permissions: ['domains:read', 'templates:read'].slice(round % 2) },
    ]
    const calls = await Promise.all(
      changes.map(json => server.call('PATCH', `/v1/members/${id}`, { json: { ...json, if_updated_at: updated_at } })),
    )
    expect(calls.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  }
})

test('refuses invalid changes and changes nothing', async () => {
  const id = await newMember(server, limitedTo(brands, ['inbox:read']))
  const foreign = await newBrand(server, (await createCompany()).key)
  for (const [json, ...expected] of [
    [{}, 400, 'invalid_request'],
    [{ brand_ids: null }, 400, 'invalid_request', 'brand_ids'],
    [{ permissions: null }, 400, 'invalid_request', 'permissions'],
    [{ brand_ids: [] }, 400, 'invalid_request', 'brand_ids'],
    [{ brand_ids: [brands[0], 'brd_none'] }, 404, 'not_found', 'brand_ids[1]'],
    [{ brand_ids: [foreign], permissions: [] }, 404, 'not_found', 'brand_ids[0]'],
    [{ permissions: ['inbox:read', 'members:read'] }, 400, 'invalid_request', 'permissions[1]'],
    [{ permissions: ['everything'] }, 400, 'invalid_request', 'permissions[0]'],
    [{ role: 'owner' }, 400, 'invalid_request', 'role'],
    [{ email: 'a@b.test' }, 400, 'invalid_request', 'email'],
    [{ organization_id: 'org' }, 400, 'invalid_request', 'organization_id'],
  ] as const)
    expect([json, ...outcome(await server.call('PATCH', `/v1/members/${id}`, { json }))]).toEqual([json, ...expected])
  const { json } = await server.call('GET', '/v1/members?limit=200')
  const unchanged = json.data.find((item: { id: string }) => item.id === id)
  expect([unchanged.brand_ids, unchanged.permissions]).toEqual([[...brands], ['inbox:read']])
})

test('refuses to change the brands and permissions of owners and admins', async () => {
  const { key, owner, admin } = await createCompany()
  for (const id of [await owner(), await admin()])
    expect(outcome(await server.call('PATCH', `/v1/members/${id}`, { key, json: { permissions: [] } }))).toEqual([
      409,
      'role_fixed',
    ])
})

test('lets a key created by an admin remove members, but neither owners nor admins', async () => {
  const { key, owner, admin, keyOf, organizationId } = await createCompany()
  const [ownerId, adminId, otherAdmin] = [await owner(), await admin(), await admin()]
  const memberId = await newMember(server, limitedTo([await newBrand(server, key)]), organizationId)
  const byAdmin = await keyOf(adminId)
  for (const id of [ownerId, otherAdmin, adminId])
    expect(outcome(await remove(id, byAdmin))).toEqual([403, 'role_not_allowed'])
  const removed = await remove(memberId, byAdmin)
  expect([removed.status, removed.json]).toEqual([200, { id: memberId, deleted: true }])
  expect(outcome(await remove(memberId, byAdmin))).toEqual([404, 'not_found'])
  expect((await remove(otherAdmin, await keyOf(ownerId))).status).toBe(200)
  expect(await idsOf(key)).toEqual([ownerId, adminId])
})

test('refuses to remove the last owner to everyone', async () => {
  const { key, owner, keyOf } = await createCompany()
  const ownerId = await owner()
  for (const value of [key, await keyOf(ownerId)])
    expect(outcome(await remove(ownerId, value))).toEqual([409, 'last_owner'])
  const second = await owner()
  expect((await remove(ownerId, key)).status).toBe(200)
  expect(outcome(await remove(second, key))).toEqual([409, 'last_owner'])
})

test('leaves one owner when owners remove each other at once', async () => {
  for (let round = 0; round < 10; round++) {
    const { key, owner, keyOf } = await createCompany()
    const [a, b] = [await owner(), await owner()]
    const [keyOfA, keyOfB] = [await keyOf(a), await keyOf(b)]
    const calls = await Promise.all([remove(b, keyOfA), remove(a, keyOfB), remove(a, key), remove(b, key)])
    expect(calls.filter(call => call.status === 200).length).toBe(1)
    for (const call of calls) if (call.status !== 200) expect([403, 404, 409]).toContain(call.status)
    expect((await idsOf(key)).length).toBe(1)
  }
})

test('replays the response to a repeated removal', async () => {
  const { key, admin } = await createCompany()
  const id = await admin()
  const headers = { 'idempotency-key': `remove-${id}` }
  const first = await server.call('DELETE', `/v1/members/${id}`, { key, headers })
  const again = await server.call('DELETE', `/v1/members/${id}`, { key, headers })
  expect([again.status, again.text, again.headers.get('idempotent-replay')]).toEqual([200, first.text, 'true'])
})

test("keeps organizations apart: another organization's member does not exist", async () => {
  const other = await createCompany()
  const id = await newMember(server, limitedTo(brands))
  expect(await idsOf(other.key)).toEqual([])
  const absent = 'mem_00000000000000000000000000'
  for (const [method, json] of [
    ['GET', undefined],
    ['PATCH', { permissions: [] }],
    ['DELETE', undefined],
  ] as const) {
    const [foreign, none, nonsense] = await Promise.all(
      [id, absent, 'nonsense'].map(value => server.call(method, `/v1/members/${value}`, { key: other.key, json })),
    )
    expect(outcome(foreign ?? none ?? { status: 0, json: {} })).toEqual([404, 'not_found'])
    expect(foreign?.text.replace(id, absent)).toBe(none?.text ?? '')
    expect(nonsense?.status).toBe(404)
  }
})

test('requires a key of the whole organization with the scopes for members', async () => {
  const id = await newMember(server, limitedTo(brands))
  const reading = (await server.newKey({ scopes: ['members:read'] })).key
  const writing = (await server.newKey({ scopes: ['members:write'] })).key
  const usual = (await server.newKey({ scopes: scopes.filter(scope => !scope.startsWith('members:')) })).key
  const restricted = (await server.newKey({ brandId: brands[0] ?? null })).key
  const calls = [
    ['GET', '/v1/members', writing, reading],
    ['GET', `/v1/members/${id}`, writing, reading],
    ['PATCH', `/v1/members/${id}`, reading, writing],
    ['DELETE', `/v1/members/${id}`, reading, writing],
  ] as const
  for (const [method, path, without, having] of calls) {
    const json = method === 'PATCH' ? { permissions: [] } : undefined
    const refusalOf = async (key: string) => outcome(await server.call(method, path, { key, json }))
    expect(await refusalOf(without)).toEqual([403, 'insufficient_scope'])
    expect(await refusalOf(usual)).toEqual([403, 'insufficient_scope'])
    expect(await refusalOf(restricted)).toEqual([403, 'brand_restricted'])
    expect((await refusalOf(having))[0]).toBe(200)
  }
})

test('a key that is restricted to a brand cannot be created with scopes that manage members', async () => {
  const made = server.newKey({ brandId: brands[0] ?? null, scopes: ['inbox:read', 'members:read'] })
  await expect(made).rejects.toMatchObject({ code: 'invalid_request', detail: { param: 'scopes[1]' } })
})
