import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { deleteClosedInvitations } from '../../../src/accounts/invitations/invitations.ts'
import { encodeCursor } from '../../../src/api/page.ts'
import type { Id } from '../../../src/base/ids.ts'
import { expectConditionalChange } from '../../harness/conditional-change.ts'
import type { CallResult, TestHttpServer } from '../../harness/http-server.ts'
import { limitedTo, newBrand, newMember, openMembersServer, outcome, publicUrl } from '../fixtures.ts'

let server: TestHttpServer
let brands: readonly Id<'brd'>[]
let count = 0
const dayMs = 24 * 3_600_000

beforeAll(async () => {
  server = await openMembersServer()
  brands = [await newBrand(server), await newBrand(server)].sort()
})
afterAll(() => server.close())

const invite = (json: object = {}, key?: string) =>
  server.call('POST', '/v1/invitations', {
    json: { brand_ids: [brands[0]], permissions: ['inbox:read'], ...json },
    ...(key ? { key } : {}),
  })

/** Follows a link without an API key. */
const follow = (link: string) => server.call('GET', pathOf(link), { key: null })

const accept = (link: string, json: object = {}) =>
  server.call('POST', `${pathOf(link)}/accept`, { key: null, json: { name: 'Ann', ...json } })

const pathOf = (link: string) => link.slice(publicUrl.length)
const freshEmail = () => `invited-${++count}@friend.test`

test('invites to brands and returns the link once', async () => {
  const created = await invite({
    email: 'Ann@Friend.TEST',
    brand_ids: [brands[1], brands[0]],
    permissions: ['api_access', 'inbox:read'],
  })
  const { link, ...shown } = created.json
  expect(created.status).toBe(201)
  expect(link).toMatch(/^https:\/\/mail\.example\/invitations\/[A-Za-z0-9_-]{43}$/)
  expect(shown).toEqual({
    id: expect.stringMatching(/^inv_[0-9a-z]{26}$/),
    email: 'ann@friend.test',
    role: 'member',
    brand_ids: brands,
    permissions: ['inbox:read', 'api_access'],
    status: 'open',
    invited_by: null,
    created_at: expect.any(String),
    updated_at: shown.created_at,
    expires_at: expect.any(String),
  })
  expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBe(7 * 24 * 3600 * 1000)
  const listed = await server.call('GET', '/v1/invitations')
  expect(listed.json.data).toContainEqual(shown)
  expect(listed.text).not.toContain(link.slice(-43))
})

test('shows which member sent the invitation', async () => {
  const makerId = await newMember(server, { role: 'admin' })
  const { key } = await server.newKey({ makerId })
  expect((await invite({}, key)).json.invited_by).toBe(makerId)
})

test('refuses invalid invitations', async () => {
  const foreignKey = (await server.newKey({ organizationId: await server.newOrganization() })).key
  const foreign = await newBrand(server, foreignKey)
  const { email: taken } = await memberOf(await newMember(server, limitedTo([brands[0] ?? ''])))
  for (const [json, ...expected] of [
    [{ brand_ids: [] }, 400, 'invalid_request', 'brand_ids'],
    [{ brand_ids: undefined }, 400, 'invalid_request', 'brand_ids'],
    [{ brand_ids: [brands[0], foreign] }, 404, 'not_found', 'brand_ids[1]'],
    [{ brand_ids: ['nonsense'] }, 404, 'not_found', 'brand_ids[0]'],
    [{ permissions: undefined }, 400, 'invalid_request', 'permissions'],
    [{ permissions: ['members:write'] }, 400, 'invalid_request', 'permissions[0]'],
    [{ role: 'owner' }, 400, 'invalid_request', 'role'],
    [{ email: 'Ann <ann@friend.test>' }, 400, 'invalid_request', 'email'],
    [{ email: 'ann@friend.test\r\nBcc: x@y.test' }, 400, 'invalid_request', 'email'],
    [{ email: taken.toUpperCase() }, 400, 'invalid_request', 'email'],
  ] as const)
    expect([json, ...outcome(await invite(json))]).toEqual([json, ...expected])
})

async function memberOf(id: Id<'mem'>) {
  return server.database.db.selectFrom('members').select('email').where('id', '=', id).executeTakeFirstOrThrow()
}

test('refuses an Idempotency-Key, so that no link is stored with a response', async () => {
  const called = await server.call('POST', '/v1/invitations', {
    json: { brand_ids: [brands[0]], permissions: [] },
    headers: { 'idempotency-key': 'invite-once' },
  })
  expect([...outcome(called), called.json.error.requirement]).toEqual([
    400,
    'idempotency_not_supported',
    'remove_idempotency_key',
  ])
})

test('shows the holder of the link what it grants, and nothing more', async () => {
  const { link, expires_at } = (await invite({ brand_ids: brands, permissions: ['inbox:read'] })).json
  const followed = await follow(link)
  const names = await Promise.all(
    brands.map(async id => ({ name: (await server.call('GET', `/v1/brands/${id}`)).json.name })),
  )
  expect([followed.status, followed.json]).toEqual([
    200,
    {
      organization: { name: 'Test' },
      brands: names,
      email: null,
      role: 'member',
      permissions: ['inbox:read'],
      expires_at,
    },
  ])
  expect(followed.headers.get('cache-control')).toBe('no-store')
  const head = await server.call('HEAD', pathOf(link), { key: null })
  expect([head.status, head.text]).toEqual([200, ''])
})

test('makes whoever accepts a member of the inviting organization, with the granted access', async () => {
  const { link, id } = (await invite({ permissions: ['api_access', 'email:send'] })).json
  const email = freshEmail()
  const accepted = await accept(link, { email: email.toUpperCase().replace('FRIEND.TEST', 'friend.test'), name: 'Bea' })
  expect([accepted.status, accepted.json]).toEqual([
    201,
    {
      id: expect.stringMatching(/^mem_/),
      email,
      name: 'Bea',
      role: 'member',
      brand_ids: [brands[0]],
      permissions: ['email:send', 'api_access'],
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_active_at: null,
    },
  ])
  const { json } = await server.call('GET', '/v1/members?limit=200')
  expect(json.data).toContainEqual(accepted.json)
  expect((await server.call('GET', '/v1/invitations')).text).not.toContain(id)
})

test('accepts only the invited address', async () => {
  const email = freshEmail()
  const { link } = (await invite({ email })).json
  expect(outcome(await accept(link, { email: freshEmail() }))).toEqual([400, 'invalid_request', 'email'])
  expect((await accept(link)).json.email).toBe(email)
})

test("refuses to accept without a valid address and name, or with a member's address, and stays open", async () => {
  const { link } = (await invite()).json
  const { email: taken } = await memberOf(await newMember(server, limitedTo([brands[0] ?? ''])))
  for (const [json, ...expected] of [
    [{}, 400, 'invalid_request', 'email'],
    [{ email: 'nonsense' }, 400, 'invalid_request', 'email'],
    [{ email: taken }, 400, 'invalid_request', 'email'],
    [{ email: freshEmail(), name: '' }, 400, 'invalid_request', 'name'],
    [{ email: freshEmail(), name: 'a\r\nb' }, 400, 'invalid_request', 'name'],
    [{ email: freshEmail(), role: 'owner' }, 400, 'invalid_request', 'role'],
    [{ email: freshEmail(), organization_id: 'x' }, 400, 'invalid_request', 'organization_id'],
  ] as const)
    expect([json, ...outcome(await accept(link, json))]).toEqual([json, ...expected])
  expect((await accept(link, { email: freshEmail() })).status).toBe(201)
})

test('admits one of many who accept at once, and no one afterwards', async () => {
  const { link } = (await invite()).json
  const calls = await Promise.all(Array.from({ length: 12 }, () => accept(link, { email: freshEmail() })))
  expect(calls.filter(call => call.status === 201).length).toBe(1)
  for (const call of calls) if (call.status !== 201) expect(outcome(call)).toEqual([409, 'invitation_closed'])
  expect(outcome(await follow(link))).toEqual([409, 'invitation_closed'])
})

test('makes an address a member once, also by two invitations at once', async () => {
  const email = freshEmail()
  const links = await Promise.all([invite({ email }), invite({ email })])
  const calls = await Promise.all(links.map(({ json }) => accept(json.link)))
  expect(calls.map(outcome).sort()).toEqual([
    [201, undefined],
    [400, 'invalid_request', 'email'],
  ])
})

test('gets one open invitation, and a change can depend on what its caller read', async () => {
  const { link, ...shown } = (await invite()).json
  const path = `/v1/invitations/${shown.id}`
  expect((await server.call('GET', path)).json).toEqual(shown)
  await expectConditionalChange(server, path, [{ brand_ids: [brands[1]] }, { permissions: ['email:send'] }])
  await accept(link, { email: freshEmail() })
  expect(outcome(await server.call('GET', path))).toEqual([409, 'invitation_closed'])
  const late = { permissions: [], if_updated_at: shown.updated_at }
  expect(outcome(await server.call('PATCH', path, { json: late }))).toEqual([409, 'invitation_closed'])
})

test('changes an open invitation, whose link then grants the changed access', async () => {
  const { link, id, ...made } = (await invite()).json
  const patch = (json: object) => server.call('PATCH', `/v1/invitations/${id}`, { json })
  const changed = await patch({ brand_ids: [brands[1]], permissions: [] })
  const { link: shown, ...rest } = { ...made, id, link: undefined }
  expect([changed.status, changed.json, shown]).toEqual([
    200,
    { ...rest, brand_ids: [brands[1]], permissions: [], updated_at: expect.any(String) },
    undefined,
  ])
  expect(outcome(await patch({ brand_ids: ['brd_none'] }))).toEqual([404, 'not_found', 'brand_ids[0]'])
  expect(outcome(await patch({ email: 'a@b.test' }))).toEqual([400, 'invalid_request', 'email'])
  expect(outcome(await patch({}))).toEqual([400, 'invalid_request'])
  const accepted = await accept(link, { email: freshEmail() })
  expect([accepted.json.brand_ids, accepted.json.permissions]).toEqual([[brands[1]], []])
})

/** What closes an invitation. */
const ends: readonly (readonly [string, (made: { id: string; link: string }) => Promise<unknown>])[] = [
  ['revoked', ({ id }) => server.call('DELETE', `/v1/invitations/${id}`)],
  ['accepted', ({ link }) => accept(link, { email: freshEmail() })],
  ['expired', async () => server.clock.forward(7 * 24 * 3600 * 1000)],
]

for (const [how, end] of ends)
  test(`an invitation that has been ${how} can no longer be listed, changed, revoked or accepted`, async () => {
    const created = (await invite()).json
    await end(created)
    const path = `/v1/invitations/${created.id}`
    const calls = [
      await server.call('PATCH', path, { json: { permissions: [] } }),
      await server.call('DELETE', path),
      await follow(created.link),
      await accept(created.link, { email: freshEmail() }),
    ]
    expect(calls.map(outcome)).toEqual(calls.map(() => [409, 'invitation_closed']))
    expect((await server.call('GET', '/v1/invitations?limit=200')).text).not.toContain(created.id)
  })

test('revokes an invitation', async () => {
  const { id } = (await invite()).json
  const headers = { 'idempotency-key': `revoke-${id}` }
  const revoked = await server.call('DELETE', `/v1/invitations/${id}`, { headers })
  expect([revoked.status, revoked.json]).toEqual([200, { id, deleted: true }])
  const again = await server.call('DELETE', `/v1/invitations/${id}`, { headers })
  expect([again.text, again.headers.get('idempotent-replay')]).toEqual([revoked.text, 'true'])
})

test('lists open invitations page by page', async () => {
  const organizationId = await server.newOrganization()
  const { key } = await server.newKey({ organizationId })
  const brand = await newBrand(server, key)
  const created: string[] = []
  for (let i = 0; i < 5; i++) created.push((await invite({ brand_ids: [brand] }, key)).json.id)
  await server.call('DELETE', `/v1/invitations/${created.splice(2, 1)[0]}`, { key })
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await server.call('GET', `/v1/invitations?limit=2${cursor}`, { key })
    seen.push(...json.data.map((item: { id: string }) => item.id))
    if (json.next_cursor === null) break
    cursor = `&cursor=${json.next_cursor}`
  }
  expect(seen).toEqual(created)
  for (const cursor of [
    'nonsense',
    encodeCursor('2026-01-31T00:00:00Z'),
    encodeCursor('soon', created[0] ?? ''),
    encodeCursor('é', 'é'),
  ])
    expect(outcome(await server.call('GET', `/v1/invitations?cursor=${cursor}`, { key }))).toEqual([
      400,
      'invalid_cursor',
      'cursor',
    ])
})

test('is deleted 90 days after its expiry, in batches', async () => {
  const { db } = server.database
  const organizationId = await server.newOrganization()
  const { key } = await server.newKey({ organizationId })
  const brand = await newBrand(server, key)
  const created: string[] = []
  for (let i = 0; i < 3; i++) created.push((await invite({ brand_ids: [brand] }, key)).json.id)
  const left = async () => {
    const rows = await db.selectFrom('invitations').select('id').where('organization_id', '=', organizationId).execute()
    return rows.map(row => String(row.id)).sort()
  }
  const deps = { db, clock: server.clock }
  while ((await deleteClosedInvitations(deps, 1000)) > 0);
  server.clock.forward((7 + 89) * dayMs)
  created.push((await invite({ brand_ids: [brand] }, key)).json.id)
  while ((await deleteClosedInvitations(deps, 1000)) > 0);
  expect(await left()).toEqual([...created].sort())
  server.clock.forward(1.1 * dayMs)
  expect(await deleteClosedInvitations(deps, 2)).toBe(2)
  while ((await deleteClosedInvitations(deps, 2)) > 0);
  expect(await left()).toEqual(created.slice(3))
})

test("keeps organizations apart: another organization's invitation does not exist", async () => {
  const { id } = (await invite()).json
  const { key } = await server.newKey({ organizationId: await server.newOrganization() })
  expect((await server.call('GET', '/v1/invitations', { key })).json).toEqual({ data: [], next_cursor: null })
  const absent = 'inv_00000000000000000000000000'
  for (const [method, json] of [
    ['PATCH', { permissions: [] }],
    ['DELETE', undefined],
  ] as const) {
    const foreign = await server.call(method, `/v1/invitations/${id}`, { key, json })
    const none = await server.call(method, `/v1/invitations/${absent}`, { key, json })
    expect(outcome(foreign)).toEqual([404, 'not_found'])
    expect(foreign.text.replace(id, absent)).toBe(none.text)
  }
})

test('requires a key of the whole organization with the scopes for members', async () => {
  const { id } = (await invite()).json
  const reading = (await server.newKey({ scopes: ['members:read'] })).key
  const writing = (await server.newKey({ scopes: ['members:write'] })).key
  const restricted = (await server.newKey({ brandId: brands[0] ?? null })).key
  const call = (method: string, key: string): Promise<CallResult> => {
    const path = method === 'PATCH' || method === 'DELETE' ? `/v1/invitations/${id}` : '/v1/invitations'
    const bodies: Record<string, object> = {
      POST: { brand_ids: [brands[0]], permissions: [] },
      PATCH: { permissions: [] },
    }
    return server.call(method, path, { key, json: bodies[method] })
  }
  for (const [method, without, having] of [
    ['GET', writing, reading],
    ['POST', reading, writing],
    ['PATCH', reading, writing],
    ['DELETE', reading, writing],
  ] as const) {
    expect(outcome(await call(method, without))).toEqual([403, 'insufficient_scope'])
    expect(outcome(await call(method, restricted))).toEqual([403, 'brand_restricted'])
    expect((await call(method, having)).status).toBeLessThan(300)
  }
})

test('answers any other link only with not_found', async () => {
  const { link } = (await invite()).json
  const token = link.slice(-43)
  const wrong = [`${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`, token.slice(0, -1), 'x', 'x'.repeat(43)]
  const texts = new Set<string>()
  for (const wrongToken of wrong)
    for (const called of [
      await follow(`${publicUrl}/invitations/${wrongToken}`),
      await accept(`${publicUrl}/invitations/${wrongToken}`, { email: freshEmail() }),
    ]) {
      expect(outcome(called)).toEqual([404, 'not_found'])
      texts.add(called.text)
    }
  expect(texts.size).toBe(1)
  for (const token of ['x'.repeat(129), '%ff'])
    expect(outcome(await follow(`${publicUrl}/invitations/${token}`))).toEqual([404, 'not_found'])
})

test('rate-limits failed links by IP address and still accepts a valid one', async () => {
  const limited = await openMembersServer({ authFailuresPerMinute: 3 })
  try {
    const brand = await newBrand(limited)
    const created = await limited.call('POST', '/v1/invitations', { json: { brand_ids: [brand], permissions: [] } })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      const path = `/invitations/${i}${i % 2 ? '/accept' : ''}`
      const json = i % 2 ? { json: { name: 'A', email: 'a@b.test' } } : {}
      statuses.push((await limited.call(i % 2 ? 'POST' : 'GET', path, { key: null, ...json })).status)
    }
    expect(statuses).toEqual([404, 404, 404, 429, 429])
    const refused = await limited.call('GET', '/invitations/x', { key: null })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await limited.call('GET', pathOf(created.json.link), { key: null })).status).toBe(200)
    expect((await limited.call('GET', '/v1/brands', { key: 'nonsense' })).status).toBe(429)
  } finally {
    await limited.close()
  }
})

test('validates the body of an acceptance as strictly as that of any operation', async () => {
  const { link } = (await invite()).json
  const post = (body: string | ReadableStream, type = 'application/json') =>
    server.call('POST', `${pathOf(link)}/accept`, { key: null, body, headers: { 'content-type': type } })
  expect(outcome(await post('{'))).toEqual([400, 'invalid_json'])
  expect(outcome(await post('name=Ann', 'application/x-www-form-urlencoded'))).toEqual([415, 'unsupported_media_type'])
  expect(outcome(await post(JSON.stringify({ name: 'x'.repeat(17_000) })))).toEqual([413, 'payload_too_large'])
  const endless = new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(1024)) })
  expect(outcome(await post(endless))).toEqual([413, 'payload_too_large'])
  expect(outcome(await server.call('POST', `${pathOf(link)}/accept`, { key: null }))).toEqual([
    400,
    'invalid_request',
    'name',
  ])
})

test('a database dump contains no key and no link', async () => {
  const created = (await invite({ email: freshEmail() })).json
  await accept(created.link)
  await invite()
  const secrets = [created.link.slice(-43), server.key.slice(31, 74)]
  const dump = await dumpAll()
  for (const secret of secrets)
    for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
      expect(dump.includes(form)).toBe(false)
  expect(dump.includes(Buffer.from(secrets[0] ?? '', 'base64url').toString('hex'))).toBe(false)
  expect(dump).toContain(created.email)
})

/** Every value of every table, bytes in hexadecimal and as they are. */
async function dumpAll(): Promise<string> {
  const { db } = server.database
  const tables = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()`.execute(db)
  const parts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await sql<Record<string, unknown>>`SELECT * FROM ${sql.table(name)}`.execute(db)
    for (const value of rows.flatMap(row => Object.values(row)))
      parts.push(Buffer.isBuffer(value) ? `${value.toString('hex')} ${value.toString('latin1')}` : String(value))
  }
  return parts.join('\n')
}
