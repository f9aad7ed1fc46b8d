import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKey, openKeyAuthenticator, revokeKey } from '../../../src/accounts/keys/keys.ts'
import { createKeyAsMember, type MemberKeyRequest, revokeKeyAsMember } from '../../../src/accounts/keys/member-keys.ts'
import { type Permission, permissions } from '../../../src/accounts/keys/permissions.ts'
import { changeMember, changeRole, removeMember } from '../../../src/accounts/members/members.ts'
import { scopes } from '../../../src/api/scope.ts'
import type { Id } from '../../../src/base/ids.ts'
import { inMs, type TestHttpServer } from '../../harness/http-server.ts'
import { limitedTo, newBrand, newMember, openMembersServer, outcome } from '../fixtures.ts'

let server: TestHttpServer
let brand: Id<'brd'>
let otherBrand: Id<'brd'>

beforeAll(async () => {
  server = await openMembersServer()
  brand = await newBrand(server)
  otherBrand = await newBrand(server)
})
afterAll(() => server.close())

const deps = () => ({ db: server.database.db, clock: server.clock })
const operator = () => ({ organizationId: server.organizationId, role: 'owner' }) as const

function keyAs(memberId: Id<'mem'>, wanted: Partial<MemberKeyRequest> = {}) {
  const usual = { brandId: brand, name: 'k', scopes: ['brands:read', 'brands:write'], expiresAt: null } as const
  const acting = { organizationId: server.organizationId, memberId }
  return createKeyAsMember(server.database.db, acting, { ...usual, ...wanted }, server.clock)
}

async function memberWithKey() {
  const id = await newMember(server, limitedTo([brand, otherBrand]))
  return { id, ...(await keyAs(id).then(({ id: keyId, key }) => ({ keyId, key }))) }
}

const provision = (key: string, headers: Record<string, string> = {}) =>
  server.call('POST', `/v1/brands/${brand}/provision`, { key, headers })

/** What ends the access of a member's key, and the response to its next request. */
const losses: readonly (readonly [
  string,
  (member: { id: Id<'mem'>; keyId: Id<'key'> }) => Promise<unknown>,
  number,
  string,
])[] = [
  ['revoked', ({ keyId }) => revokeKey(server.database.db, keyId, server.clock), 401, 'api_key_revoked'],
  ['removed', ({ id }) => removeMember(deps(), operator(), id), 401, 'api_key_revoked'],
  ['without API access', ({ id }) => grant(id, ['brands:read', 'brands:write']), 403, 'insufficient_scope'],
  ['without the permission', ({ id }) => grant(id, ['brands:read', 'api_access']), 403, 'insufficient_scope'],
  [
    'without the brand',
    ({ id }) => changeMember(deps(), operator(), id, { brand_ids: [otherBrand] }),
    403,
    'brand_restricted',
  ],
]

function grant(id: Id<'mem'>, granted: readonly Permission[]) {
  return changeMember(deps(), operator(), id, { permissions: granted })
}

for (const [how, lose, status, code] of losses)
  test(`refuses the next request of a key when it or its member is ${how}, also a repeated one`, async () => {
    const member = await memberWithKey()
    const headers = { 'idempotency-key': `repeated-${member.id}` }
    const first = await provision(member.key, headers)
    const replayed = await provision(member.key, headers)
    expect([first.status, replayed.status, replayed.headers.get('idempotent-replay')]).toEqual([200, 200, 'true'])
    await lose(member)
    const [next, again] = [await provision(member.key), await provision(member.key, headers)]
    expect([outcome(next), outcome(again)]).toEqual([
      [status, code],
      [status, code],
    ])
    expect(again.headers.get('idempotent-replay')).toBeNull()
  })

test('refuses an expired key, also for a repeated request', async () => {
  const id = await newMember(server, limitedTo([brand]))
  const { key } = await keyAs(id, { expiresAt: inMs(server.clock, 60_000) })
  const headers = { 'idempotency-key': 'until-it-expires' }
  expect((await provision(key, headers)).status).toBe(200)
  server.clock.forward(60_001)
  expect(outcome(await provision(key, headers))).toEqual([401, 'api_key_expired'])
})

test('restores access when the member regains it, but never the key of a removed member', async () => {
  const member = await memberWithKey()
  await grant(member.id, ['brands:write'])
  expect(outcome(await provision(member.key))).toEqual([403, 'insufficient_scope'])
  await grant(member.id, permissions)
  await changeMember(deps(), operator(), member.id, { brand_ids: [otherBrand] })
  expect(outcome(await provision(member.key))).toEqual([403, 'brand_restricted'])
  await changeMember(deps(), operator(), member.id, { brand_ids: [brand] })
  expect((await provision(member.key)).status).toBe(200)
  await removeMember(deps(), operator(), member.id)
  await newMember(server, limitedTo([brand]))
  expect(outcome(await provision(member.key))).toEqual([401, 'api_key_revoked'])
})

test('a key created while its member is being removed counts as revoked', async () => {
  const memberId = await newMember(server, limitedTo([brand]))
  await removeMember(deps(), operator(), memberId)
  const late = { organizationId: server.organizationId, brandId: brand, name: 'late', scopes, expiresAt: null }
  const usual = late.scopes.filter(scope => !scope.startsWith('members:'))
  const { key } = await createKey(
    server.database.db,
    { ...late, scopes: usual, makerId: memberId, memberId },
    server.clock,
  )
  expect(outcome(await provision(key))).toEqual([401, 'api_key_revoked'])
})

test('refuses in order: 401, 429, 404 for the path, then what the member lost', async () => {
  const member = await memberWithKey()
  await grant(member.id, [])
  const nowhere = await server.call('GET', '/v1/nowhere', { key: member.key })
  expect(outcome(nowhere)).toEqual([404, 'not_found'])
  const barred = await server.call('PATCH', `/v1/brands/${brand}`, { key: member.key, body: '{', headers: {} })
  expect(outcome(barred)).toEqual([403, 'insufficient_scope'])
  expect(barred.headers.get('x-ratelimit-remaining')).not.toBeNull()
})

test('a member’s key may do what both it and the member may', async () => {
  const id = await newMember(server, limitedTo([brand], ['api_access', 'brands:read', 'email:send']))
  const { key } = await keyAs(id, { scopes: ['brands:read'] })
  const keyring = openKeyAuthenticator(server.database.db, server.clock)
  const scopesNow = async () => [...(await keyring.authenticate(`Bearer ${key}`)).scopes]
  expect(await scopesNow()).toEqual(['brands:read'])
  await grant(id, ['api_access', 'email:send'])
  expect(await scopesNow()).toEqual([])
  await changeRole(deps(), operator(), id, { role: 'admin' })
  expect(await scopesNow()).toEqual(['brands:read'])
  await keyring.close()
})

test('an organization’s key outlives its maker, but manages members only while they are owner or admin', async () => {
  await newMember(server, { role: 'owner' })
  const maker = await newMember(server, { role: 'owner' })
  const { key } = await keyAs(maker, { brandId: null, scopes })
  const list = async () => outcome(await server.call('GET', '/v1/members', { key }))
  const provisioned = async () => (await provision(key)).status
  expect(await list()).toEqual([200, undefined])
  const target = await newMember(server, { role: 'admin' })
  await changeRole(deps(), operator(), maker, { role: 'admin' })
  expect(await list()).toEqual([200, undefined])
  expect(outcome(await server.call('DELETE', `/v1/members/${target}`, { key }))).toEqual([403, 'role_not_allowed'])
  await changeRole(deps(), operator(), maker, limitedTo([brand]))
  expect(await list()).toEqual([403, 'insufficient_scope'])
  expect(await provisioned()).toBe(200)
  await changeRole(deps(), operator(), maker, { role: 'owner' })
  expect(await list()).toEqual([200, undefined])
  const headers = { 'idempotency-key': 'invite-nobody' }
  const inviting = () => server.call('DELETE', `/v1/members/${target}`, { key, headers })
  expect((await inviting()).status).toBe(200)
  await removeMember(deps(), operator(), maker)
  expect(await list()).toEqual([403, 'insufficient_scope'])
  expect(outcome(await inviting())).toEqual([403, 'insufficient_scope'])
  expect(await provisioned()).toBe(200)
})

test('lets a member create keys only for one of their brands and with their own permissions', async () => {
  const id = await newMember(server, limitedTo([brand], ['api_access', 'inbox:read']))
  const foreign = await newBrand(server, (await server.newKey({ organizationId: await server.newOrganization() })).key)
  const refusalOf = (wanted: Partial<MemberKeyRequest>) =>
    keyAs(id, { scopes: ['inbox:read'], ...wanted }).then(
      () => undefined,
      ({ code, detail }) => [code, detail.param],
    )
  expect(await refusalOf({})).toBeUndefined()
  expect(await refusalOf({ brandId: null })).toEqual(['brand_restricted', 'brand_id'])
  expect(await refusalOf({ brandId: otherBrand })).toEqual(['brand_restricted', 'brand_id'])
  expect(await refusalOf({ brandId: foreign })).toEqual(['not_found', 'brand_id'])
  expect(await refusalOf({ scopes: ['inbox:read', 'email:send'] })).toEqual(['insufficient_scope', 'scopes[1]'])
  expect(await refusalOf({ scopes: ['members:read'] })).toEqual(['insufficient_scope', 'scopes[0]'])
  await grant(id, ['inbox:read'])
  expect(await refusalOf({})).toEqual(['insufficient_scope', undefined])
  const admin = await newMember(server, { role: 'admin' })
  expect((await keyAs(admin, { brandId: null, scopes })).key).toStartWith('mrk_')
  await expect(keyAs(admin, { scopes })).rejects.toMatchObject({ code: 'invalid_request' })
  await removeMember(deps(), operator(), id)
  await expect(keyAs(id)).rejects.toMatchObject({ code: 'not_found' })
})

test('lets a member revoke only their own keys, an owner or admin any of the organization', async () => {
  const [mine, other] = [await memberWithKey(), await memberWithKey()]
  const admin = await newMember(server, { role: 'admin' })
  const { db } = server.database
  const acting = (memberId: Id<'mem'>) => ({ organizationId: server.organizationId, memberId })
  await expect(revokeKeyAsMember(db, acting(mine.id), other.keyId, server.clock)).rejects.toMatchObject({
    code: 'not_found',
  })
  await revokeKeyAsMember(db, acting(mine.id), mine.keyId, server.clock)
  expect(outcome(await provision(mine.key))).toEqual([401, 'api_key_revoked'])
  await revokeKeyAsMember(db, acting(admin), other.keyId, server.clock)
  expect(outcome(await provision(other.key))).toEqual([401, 'api_key_revoked'])
  const foreign = await server.newKey({ organizationId: await server.newOrganization() })
  await expect(revokeKeyAsMember(db, acting(admin), foreign.id, server.clock)).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('records when a member was last active, to the minute', async () => {
  const member = await memberWithKey()
  const keyring = openKeyAuthenticator(server.database.db, server.clock)
  await keyring.authenticate(`Bearer ${member.key}`)
  await keyring.close()
  const { json } = await server.call('GET', '/v1/members?limit=200')
  const shown = json.data.find((item: { id: string }) => item.id === member.id)
  expect(shown.last_active_at).toMatch(/:00\.000000Z$/)
})
