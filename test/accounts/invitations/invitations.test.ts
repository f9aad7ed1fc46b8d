import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { deleteClosedInvitations } from '../../../src/accounts/invitations/invitations.ts'
import { encodeCursor } from '../../../src/api/page.ts'
import type { Id } from '../../../src/base/ids.ts'
import type { CallResult, TestHttpServer } from '../../harness/http-server.ts'
import { limitedTo, newBrand, newMember, openPeopleDoor, outcome, publicUrl } from '../fixtures.ts'

let door: TestHttpServer
let brands: readonly Id<'brd'>[]
let count = 0
const dayMs = 24 * 3_600_000

beforeAll(async () => {
  door = await openPeopleDoor()
  brands = [await newBrand(door), await newBrand(door)].sort()
})
afterAll(() => door.close())

const invite = (json: object = {}, key?: string) =>
  door.call('POST', '/v1/invitations', {
    json: { brand_ids: [brands[0]], permissions: ['inbox:read'], ...json },
    ...(key ? { key } : {}),
  })

/** Follows a link as someone without a key would. */
const follow = (link: string) => door.call('GET', pathOf(link), { key: null })

const accept = (link: string, json: object = {}) =>
  door.call('POST', `${pathOf(link)}/accept`, { key: null, json: { name: 'Ann', ...json } })

const pathOf = (link: string) => link.slice(publicUrl.length)
const freshEmail = () => `invited-${++count}@friend.test`

test('invites to brands, and shows the link this once', async () => {
  const made = await invite({
    email: 'Ann@Friend.TEST',
    brand_ids: [brands[1], brands[0]],
    permissions: ['api_access', 'inbox:read'],
  })
  const { link, ...shown } = made.json
  expect(made.status).toBe(201)
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
    expires_at: expect.any(String),
  })
  expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBe(7 * 24 * 3600 * 1000)
  const listed = await door.call('GET', '/v1/invitations')
  expect(listed.json.data).toContainEqual(shown)
  expect(listed.text).not.toContain(link.slice(-43))
})

test('says which member invited', async () => {
  const makerId = await newMember(door, { role: 'admin' })
  const { key } = await door.newKey({ makerId })
  expect((await invite({}, key)).json.invited_by).toBe(makerId)
})

test('refuses invitations that are none', async () => {
  const foreignKey = (await door.newKey({ organizationId: await door.newOrganization() })).key
  const foreign = await newBrand(door, foreignKey)
  const { email: taken } = await memberOf(await newMember(door, limitedTo([brands[0] ?? ''])))
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
  return door.database.db.selectFrom('members').select('email').where('id', '=', id).executeTakeFirstOrThrow()
}

test('refuses an Idempotency-Key, so that no link is kept with an answer', async () => {
  const called = await door.call('POST', '/v1/invitations', {
    json: { brand_ids: [brands[0]], permissions: [] },
    headers: { 'idempotency-key': 'invite-once' },
  })
  expect([...outcome(called), called.json.error.requirement]).toEqual([
    400,
    'idempotency_not_supported',
    'remove_idempotency_key',
  ])
})

test('shows whoever has the link what it invites to, and nothing more', async () => {
  const { link, expires_at } = (await invite({ brand_ids: brands, permissions: ['inbox:read'] })).json
  const followed = await follow(link)
  const names = await Promise.all(
    brands.map(async id => ({ name: (await door.call('GET', `/v1/brands/${id}`)).json.name })),
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
  const head = await door.call('HEAD', pathOf(link), { key: null })
  expect([head.status, head.text]).toEqual([200, ''])
})

test('makes whoever accepts a member of the organization that invited, with what was granted', async () => {
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
      last_active_at: null,
    },
  ])
  const { json } = await door.call('GET', '/v1/members?limit=200')
  expect(json.data).toContainEqual(accepted.json)
  expect((await door.call('GET', '/v1/invitations')).text).not.toContain(id)
})

test('takes no other address than the invited one', async () => {
  const email = freshEmail()
  const { link } = (await invite({ email })).json
  expect(outcome(await accept(link, { email: freshEmail() }))).toEqual([400, 'invalid_request', 'email'])
  expect((await accept(link)).json.email).toBe(email)
})

test('refuses to accept without an address or a name, or with those of a member, and stays open', async () => {
  const { link } = (await invite()).json
  const { email: taken } = await memberOf(await newMember(door, limitedTo([brands[0] ?? ''])))
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

test('lets one of many who accept at once in, and no one after', async () => {
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

test('changes an open invitation, whose link then grants what it says now', async () => {
  const { link, id, ...made } = (await invite()).json
  const patch = (json: object) => door.call('PATCH', `/v1/invitations/${id}`, { json })
  const changed = await patch({ brand_ids: [brands[1]], permissions: [] })
  const { link: shown, ...rest } = { ...made, id, link: undefined }
  expect([changed.status, changed.json, shown]).toEqual([
    200,
    { ...rest, brand_ids: [brands[1]], permissions: [] },
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
  ['revoked', ({ id }) => door.call('DELETE', `/v1/invitations/${id}`)],
  ['accepted', ({ link }) => accept(link, { email: freshEmail() })],
  ['expired', async () => door.clock.forward(7 * 24 * 3600 * 1000)],
]

for (const [how, end] of ends)
  test(`an invitation that was ${how} is listed, changed, revoked and accepted no more`, async () => {
    const made = (await invite()).json
    await end(made)
    const path = `/v1/invitations/${made.id}`
    const calls = [
      await door.call('PATCH', path, { json: { permissions: [] } }),
      await door.call('DELETE', path),
      await follow(made.link),
      await accept(made.link, { email: freshEmail() }),
    ]
    expect(calls.map(outcome)).toEqual(calls.map(() => [409, 'invitation_closed']))
    expect((await door.call('GET', '/v1/invitations?limit=200')).text).not.toContain(made.id)
  })

test('revokes an invitation', async () => {
  const { id } = (await invite()).json
  const headers = { 'idempotency-key': `revoke-${id}` }
  const revoked = await door.call('DELETE', `/v1/invitations/${id}`, { headers })
  expect([revoked.status, revoked.json]).toEqual([200, { id, deleted: true }])
  const again = await door.call('DELETE', `/v1/invitations/${id}`, { headers })
  expect([again.text, again.headers.get('idempotent-replay')]).toEqual([revoked.text, 'true'])
})

test('lists open invitations page by page', async () => {
  const organizationId = await door.newOrganization()
  const { key } = await door.newKey({ organizationId })
  const brand = await newBrand(door, key)
  const made: string[] = []
  for (let i = 0; i < 5; i++) made.push((await invite({ brand_ids: [brand] }, key)).json.id)
  await door.call('DELETE', `/v1/invitations/${made.splice(2, 1)[0]}`, { key })
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await door.call('GET', `/v1/invitations?limit=2${cursor}`, { key })
    seen.push(...json.data.map((each: { id: string }) => each.id))
    if (json.next_cursor === null) break
    cursor = `&cursor=${json.next_cursor}`
  }
  expect(seen).toEqual(made)
  for (const cursor of [
    'nonsense',
    encodeCursor('2026-01-31T00:00:00Z'),
    encodeCursor('soon', made[0] ?? ''),
    encodeCursor('é', 'é'),
  ])
    expect(outcome(await door.call('GET', `/v1/invitations?cursor=${cursor}`, { key }))).toEqual([
      400,
      'invalid_cursor',
      'cursor',
    ])
})

test('is forgotten 90 days after it closed, a few at a time', async () => {
  const { db } = door.database
  const organizationId = await door.newOrganization()
  const { key } = await door.newKey({ organizationId })
  const brand = await newBrand(door, key)
  const made: string[] = []
  for (let i = 0; i < 3; i++) made.push((await invite({ brand_ids: [brand] }, key)).json.id)
  const left = async () => {
    const rows = await db.selectFrom('invitations').select('id').where('organization_id', '=', organizationId).execute()
    return rows.map(row => String(row.id)).sort()
  }
  const deps = { db, clock: door.clock }
  while ((await deleteClosedInvitations(deps, 1000)) > 0);
  door.clock.forward((7 + 89) * dayMs)
  made.push((await invite({ brand_ids: [brand] }, key)).json.id)
  while ((await deleteClosedInvitations(deps, 1000)) > 0);
  expect(await left()).toEqual([...made].sort())
  door.clock.forward(1.1 * dayMs)
  expect(await deleteClosedInvitations(deps, 2)).toBe(2)
  while ((await deleteClosedInvitations(deps, 2)) > 0);
  expect(await left()).toEqual(made.slice(3))
})

test('keeps organizations apart: a foreign invitation is as one that does not exist', async () => {
  const { id } = (await invite()).json
  const { key } = await door.newKey({ organizationId: await door.newOrganization() })
  expect((await door.call('GET', '/v1/invitations', { key })).json).toEqual({ data: [], next_cursor: null })
  const absent = 'inv_00000000000000000000000000'
  for (const [method, json] of [
    ['PATCH', { permissions: [] }],
    ['DELETE', undefined],
  ] as const) {
    const foreign = await door.call(method, `/v1/invitations/${id}`, { key, json })
    const none = await door.call(method, `/v1/invitations/${absent}`, { key, json })
    expect(outcome(foreign)).toEqual([404, 'not_found'])
    expect(foreign.text.replace(id, absent)).toBe(none.text)
  }
})

test('needs a key of the whole organization with the scopes of members', async () => {
  const { id } = (await invite()).json
  const reading = (await door.newKey({ scopes: ['members:read'] })).key
  const writing = (await door.newKey({ scopes: ['members:write'] })).key
  const restricted = (await door.newKey({ brandId: brands[0] ?? null })).key
  const call = (method: string, key: string): Promise<CallResult> => {
    const path = method === 'PATCH' || method === 'DELETE' ? `/v1/invitations/${id}` : '/v1/invitations'
    const bodies: Record<string, object> = {
      POST: { brand_ids: [brands[0]], permissions: [] },
      PATCH: { permissions: [] },
    }
    return door.call(method, path, { key, json: bodies[method] })
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

test('says of any other link alone that there is no such invitation', async () => {
  const { link } = (await invite()).json
  const token = link.slice(-43)
  const wrong = [`${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`, token.slice(0, -1), 'x', 'x'.repeat(43)]
  const texts = new Set<string>()
  for (const each of wrong)
    for (const called of [
      await follow(`${publicUrl}/invitations/${each}`),
      await accept(`${publicUrl}/invitations/${each}`, { email: freshEmail() }),
    ]) {
      expect(outcome(called)).toEqual([404, 'not_found'])
      texts.add(called.text)
    }
  expect(texts.size).toBe(1)
  expect(outcome(await follow(`${publicUrl}/invitations/${'x'.repeat(129)}`))[0]).toBe(400)
})

test('limits failed links by address, and lets a right one through', async () => {
  const limited = await openPeopleDoor({ authFailuresPerMinute: 3 })
  try {
    const brand = await newBrand(limited)
    const made = await limited.call('POST', '/v1/invitations', { json: { brand_ids: [brand], permissions: [] } })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      const path = `/invitations/${i}${i % 2 ? '/accept' : ''}`
      const json = i % 2 ? { json: { name: 'A', email: 'a@b.test' } } : {}
      statuses.push((await limited.call(i % 2 ? 'POST' : 'GET', path, { key: null, ...json })).status)
    }
    expect(statuses).toEqual([404, 404, 404, 429, 429])
    const refused = await limited.call('GET', '/invitations/x', { key: null })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect((await limited.call('GET', pathOf(made.json.link), { key: null })).status).toBe(200)
    expect((await limited.call('GET', '/v1/brands', { key: 'nonsense' })).status).toBe(429)
  } finally {
    await limited.close()
  }
})

test('takes a bounded body of JSON to accept, as strictly as any operation', async () => {
  const { link } = (await invite()).json
  const post = (body: string | ReadableStream, type = 'application/json') =>
    door.call('POST', `${pathOf(link)}/accept`, { key: null, body, headers: { 'content-type': type } })
  expect(outcome(await post('{'))).toEqual([400, 'invalid_json'])
  expect(outcome(await post('name=Ann', 'application/x-www-form-urlencoded'))).toEqual([415, 'unsupported_media_type'])
  expect(outcome(await post(JSON.stringify({ name: 'x'.repeat(17_000) })))).toEqual([413, 'payload_too_large'])
  const endless = new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(1024)) })
  expect(outcome(await post(endless))).toEqual([413, 'payload_too_large'])
  expect(outcome(await door.call('POST', `${pathOf(link)}/accept`, { key: null }))).toEqual([
    400,
    'invalid_request',
    'name',
  ])
})

test('a dump of the database holds no key and no link', async () => {
  const made = (await invite({ email: freshEmail() })).json
  await accept(made.link)
  await invite()
  const secrets = [made.link.slice(-43), door.key.slice(31, 74)]
  const dump = await dumpAll()
  for (const secret of secrets)
    for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
      expect(dump.includes(form)).toBe(false)
  expect(dump.includes(Buffer.from(secrets[0] ?? '', 'base64url').toString('hex'))).toBe(false)
  expect(dump).toContain(made.email)
})

/** Every value of every table, bytes in hexadecimal and as they are. */
async function dumpAll(): Promise<string> {
  const { db } = door.database
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
