import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createKey, openKeyAuthenticator, revokeKey } from '../../../src/accounts/keys/keys.ts'
import { createKeyAsMember, type MemberKeyRequest, revokeKeyAsMember } from '../../../src/accounts/keys/member-keys.ts'
import { type Permission, permissions } from '../../../src/accounts/keys/permissions.ts'
import { changeMember, changeRole, removeMember } from '../../../src/accounts/members/members.ts'
import { scopes } from '../../../src/api/scope.ts'
import type { Id } from '../../../src/base/ids.ts'
import { inMs, type TestHttpServer } from '../../harness/http-server.ts'
import { limitedTo, newBrand, newMember, openPeopleDoor, outcome } from '../fixtures.ts'

let door: TestHttpServer
let brand: Id<'brd'>
let otherBrand: Id<'brd'>

beforeAll(async () => {
  door = await openPeopleDoor()
  brand = await newBrand(door)
  otherBrand = await newBrand(door)
})
afterAll(() => door.close())

const deps = () => ({ db: door.database.db, clock: door.clock })
const operator = () => ({ organizationId: door.organizationId, role: 'owner' }) as const

function keyAs(memberId: Id<'mem'>, wanted: Partial<MemberKeyRequest> = {}) {
  const usual = { brandId: brand, name: 'k', scopes: ['brands:read', 'brands:write'], expiresAt: null } as const
  const acting = { organizationId: door.organizationId, memberId }
  return createKeyAsMember(door.database.db, acting, { ...usual, ...wanted }, door.clock)
}

async function memberWithKey() {
  const id = await newMember(door, limitedTo([brand, otherBrand]))
  return { id, ...(await keyAs(id).then(({ id: keyId, key }) => ({ keyId, key }))) }
}

const provision = (key: string, headers: Record<string, string> = {}) =>
  door.call('POST', `/v1/brands/${brand}/provision`, { key, headers })

/** What takes access away from a member's key, and what its very next request is answered. */
const losses: readonly (readonly [
  string,
  (member: { id: Id<'mem'>; keyId: Id<'key'> }) => Promise<unknown>,
  number,
  string,
])[] = [
  ['revoked', ({ keyId }) => revokeKey(door.database.db, keyId, door.clock), 401, 'api_key_revoked'],
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
  test(`refuses the very next request of a key whose member or itself is ${how}, also a repeated one`, async () => {
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
  const id = await newMember(door, limitedTo([brand]))
  const { key } = await keyAs(id, { expiresAt: inMs(door.clock, 60_000) })
  const headers = { 'idempotency-key': 'until-it-expires' }
  expect((await provision(key, headers)).status).toBe(200)
  door.clock.forward(60_001)
  expect(outcome(await provision(key, headers))).toEqual([401, 'api_key_expired'])
})

test('gives back what a member gets back, but never a removed member’s key', async () => {
  const member = await memberWithKey()
  await grant(member.id, ['brands:write'])
  expect(outcome(await provision(member.key))).toEqual([403, 'insufficient_scope'])
  await grant(member.id, permissions)
  await changeMember(deps(), operator(), member.id, { brand_ids: [otherBrand] })
  expect(outcome(await provision(member.key))).toEqual([403, 'brand_restricted'])
  await changeMember(deps(), operator(), member.id, { brand_ids: [brand] })
  expect((await provision(member.key)).status).toBe(200)
  await removeMember(deps(), operator(), member.id)
  await newMember(door, limitedTo([brand]))
  expect(outcome(await provision(member.key))).toEqual([401, 'api_key_revoked'])
})

test('a key that was made while its member was being removed is as revoked', async () => {
  const memberId = await newMember(door, limitedTo([brand]))
  await removeMember(deps(), operator(), memberId)
  const late = { organizationId: door.organizationId, brandId: brand, name: 'late', scopes, expiresAt: null }
  const usual = late.scopes.filter(scope => !scope.startsWith('members:'))
  const { key } = await createKey(door.database.db, { ...late, scopes: usual, makerId: memberId, memberId }, door.clock)
  expect(outcome(await provision(key))).toEqual([401, 'api_key_revoked'])
})

test('keeps the order of refusal: 401, 429, 404 for the path, then what the member lost', async () => {
  const member = await memberWithKey()
  await grant(member.id, [])
  const nowhere = await door.call('GET', '/v1/nowhere', { key: member.key })
  expect(outcome(nowhere)).toEqual([404, 'not_found'])
  const barred = await door.call('PATCH', `/v1/brands/${brand}`, { key: member.key, body: '{', headers: {} })
  expect(outcome(barred)).toEqual([403, 'insufficient_scope'])
  expect(barred.headers.get('x-ratelimit-remaining')).not.toBeNull()
})

test('a member’s key may do what both it and the member may', async () => {
  const id = await newMember(door, limitedTo([brand], ['api_access', 'brands:read', 'email:send']))
  const { key } = await keyAs(id, { scopes: ['brands:read'] })
  const keyring = openKeyAuthenticator(door.database.db, door.clock)
  const scopesNow = async () => [...(await keyring.authenticate(`Bearer ${key}`)).scopes]
  expect(await scopesNow()).toEqual(['brands:read'])
  await grant(id, ['api_access', 'email:send'])
  expect(await scopesNow()).toEqual([])
  await changeRole(deps(), door.organizationId, id, { role: 'admin' })
  expect(await scopesNow()).toEqual(['brands:read'])
  await keyring.close()
})

test('an organization’s key outlives its maker, but manages members only while they are owner or admin', async () => {
  await newMember(door, { role: 'owner' })
  const maker = await newMember(door, { role: 'owner' })
  const { key } = await keyAs(maker, { brandId: null, scopes })
  const list = async () => outcome(await door.call('GET', '/v1/members', { key }))
  const provisioned = async () => (await provision(key)).status
  expect(await list()).toEqual([200, undefined])
  const target = await newMember(door, { role: 'admin' })
  await changeRole(deps(), door.organizationId, maker, { role: 'admin' })
  expect(await list()).toEqual([200, undefined])
  expect(outcome(await door.call('DELETE', `/v1/members/${target}`, { key }))).toEqual([403, 'role_not_allowed'])
  await changeRole(deps(), door.organizationId, maker, limitedTo([brand]))
  expect(await list()).toEqual([403, 'insufficient_scope'])
  expect(await provisioned()).toBe(200)
  await changeRole(deps(), door.organizationId, maker, { role: 'owner' })
  expect(await list()).toEqual([200, undefined])
  const headers = { 'idempotency-key': 'invite-nobody' }
  const inviting = () => door.call('DELETE', `/v1/members/${target}`, { key, headers })
  expect((await inviting()).status).toBe(200)
  await removeMember(deps(), operator(), maker)
  expect(await list()).toEqual([403, 'insufficient_scope'])
  expect(outcome(await inviting())).toEqual([403, 'insufficient_scope'])
  expect(await provisioned()).toBe(200)
})

test('makes keys as a member only of one of their brands and with what they may do', async () => {
  const id = await newMember(door, limitedTo([brand], ['api_access', 'inbox:read']))
  const foreign = await newBrand(door, (await door.newKey({ organizationId: await door.newOrganization() })).key)
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
  const admin = await newMember(door, { role: 'admin' })
  expect((await keyAs(admin, { brandId: null, scopes })).key).toStartWith('mrk_')
  await expect(keyAs(admin, { scopes })).rejects.toMatchObject({ code: 'invalid_request' })
  await removeMember(deps(), operator(), id)
  await expect(keyAs(id)).rejects.toMatchObject({ code: 'not_found' })
})

test('revokes as a member only their own keys, as an owner or admin any of the organization', async () => {
  const [mine, other] = [await memberWithKey(), await memberWithKey()]
  const admin = await newMember(door, { role: 'admin' })
  const { db } = door.database
  const acting = (memberId: Id<'mem'>) => ({ organizationId: door.organizationId, memberId })
  await expect(revokeKeyAsMember(db, acting(mine.id), other.keyId, door.clock)).rejects.toMatchObject({
    code: 'not_found',
  })
  await revokeKeyAsMember(db, acting(mine.id), mine.keyId, door.clock)
  expect(outcome(await provision(mine.key))).toEqual([401, 'api_key_revoked'])
  await revokeKeyAsMember(db, acting(admin), other.keyId, door.clock)
  expect(outcome(await provision(other.key))).toEqual([401, 'api_key_revoked'])
  const foreign = await door.newKey({ organizationId: await door.newOrganization() })
  await expect(revokeKeyAsMember(db, acting(admin), foreign.id, door.clock)).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('notes when a member was last active, to the minute', async () => {
  const member = await memberWithKey()
  const keyring = openKeyAuthenticator(door.database.db, door.clock)
  await keyring.authenticate(`Bearer ${member.key}`)
  await keyring.close()
  const { json } = await door.call('GET', '/v1/members?limit=200')
  const shown = json.data.find((each: { id: string }) => each.id === member.id)
  expect(shown.last_active_at).toMatch(/:00\.000000Z$/)
})
