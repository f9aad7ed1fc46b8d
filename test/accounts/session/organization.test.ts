import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sessionAuditRoutes } from '../../../src/accounts/audit/session-routes.ts'
import { createBrand } from '../../../src/accounts/brands/brands.ts'
import { openKeyAuthenticator } from '../../../src/accounts/keys/keys.ts'
import { permissions } from '../../../src/accounts/keys/permissions.ts'
import { sessionKeyRoutes } from '../../../src/accounts/keys/session-routes.ts'
import { changeMember, type MemberAccess, removeMember } from '../../../src/accounts/members/members.ts'
import { createOrganization } from '../../../src/accounts/organizations/organizations.ts'
import { sessionOrganizationRoutes } from '../../../src/accounts/organizations/session-routes.ts'
import { sessionPeopleRoutes } from '../../../src/accounts/people/session-routes.ts'
import { scopes } from '../../../src/api/scope.ts'
import { toIso } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { organizationRetentionRoutes } from '../../../src/retention/organization-session-routes.ts'
import { selectPausedBrands } from '../../../src/sending/reports/pause-table.ts'
import { expectConditionalChangeOf } from '../../harness/conditional-change.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { inMs, testClock } from '../../harness/http-server.ts'
import {
  type MemberCall,
  memberIp,
  newSessionMember,
  openMemberClient,
  type TestMember,
} from '../../harness/member-client.ts'
import type { SessionAnswer } from '../../harness/session.ts'

const clock = testClock()
let database: FreshDatabase
let organizationId: Id<'org'>
let brand: Id<'brd'>
let otherBrand: Id<'brd'>
let owner: TestMember
let admin: TestMember
let member: TestMember
let stranger: TestMember
let ask: (method: string, path: string, as: TestMember, call?: MemberCall) => Promise<SessionAnswer>

beforeAll(async () => {
  database = await freshDatabase()
  const { db } = database
  const deps = { db, clock }
  organizationId = (await createOrganization(db, { name: 'Acme', plan: 'free' }, clock)).id
  const other = (await createOrganization(db, { name: 'Other', plan: 'free' }, clock)).id
  brand = (await createBrand(deps, { organizationId }, { name: 'One', slug: 'one' })).id as Id<'brd'>
  otherBrand = (await createBrand(deps, { organizationId }, { name: 'Two', slug: 'two' })).id as Id<'brd'>
  owner = await join({ role: 'owner' })
  admin = await join({ role: 'admin' })
  member = await join({ role: 'member', brandIds: [brand], permissions })
  stranger = await newSessionMember(db, clock, other, { role: 'owner' })
  ask = openMemberClient(db, [
    sessionKeyRoutes(deps),
    sessionPeopleRoutes(deps),
    sessionOrganizationRoutes({ ...deps, pausedBrands: selectPausedBrands }),
    sessionAuditRoutes(deps),
    organizationRetentionRoutes({ ...deps, settings: { requestLogDays: 30, pauseWindowHours: 24 } }),
  ])
})
afterAll(() => database.close())

const join = (access: MemberAccess) => newSessionMember(database.db, clock, organizationId, access)
const outcome = ({ status, json }: SessionAnswer) => [status, json?.error?.code]
const acting = (who: TestMember) => ({ organizationId, role: 'owner' as const, memberId: who.memberId })

async function authenticate(key: string) {
  const authenticator = openKeyAuthenticator(database.db, clock)
  return authenticator.authenticate(`Bearer ${key}`).finally(() => authenticator.close())
}

const newKey = (as: TestMember, body: object = {}, call: MemberCall = {}) =>
  ask('POST', '/app/api/keys', as, { body: { name: 'k', scopes: ['email:send'], ...body }, ...call })

test('a key of an owner belongs to the organization, one of a member to them; each works, and shows once', async () => {
  const wide = await newKey(owner, { name: ' Deploy ', scopes })
  expect(wide.status).toBe(201)
  expect(await authenticate(wide.json.key)).toMatchObject({ brandId: null, role: 'owner', memberId: owner.memberId })
  const own = await newKey(member, { brand_id: brand, expires_at: toIso(inMs(clock, 60_000)) })
  expect(await authenticate(own.json.key)).toMatchObject({ brandId: brand, role: 'member', memberId: member.memberId })
  const { json, text } = await ask('GET', '/app/api/keys', admin)
  const shown = json.data.find(({ id }: { id: string }) => id === own.json.id)
  expect(shown).toMatchObject({
    brand: { id: brand, name: 'One' },
    member: { email: member.session.email },
    state: 'active',
  })
  expect(json.data.find(({ id }: { id: string }) => id === wide.json.id)).toMatchObject({
    name: 'Deploy',
    member: null,
  })
  expect(text).not.toContain(own.json.key.slice(31, 74))
})

test('a member sees, and revokes, only their own keys; the next request of a revoked key fails', async () => {
  const mine = (await newKey(member, { brand_id: brand })).json
  const theirs = (await newKey(owner)).json
  const { json } = await ask('GET', '/app/api/keys', member)
  const ids = json.data.map(({ id }: { id: string }) => id)
  expect([ids.includes(mine.id), ids.includes(theirs.id)]).toEqual([true, false])
  expect(outcome(await ask('DELETE', `/app/api/keys/${theirs.id}`, member))).toEqual([404, 'not_found'])
  expect((await authenticate(theirs.key)).keyId).toBe(theirs.id)
  expect((await ask('DELETE', `/app/api/keys/${mine.id}`, member)).json).toEqual({ id: mine.id, deleted: true })
  await expect(authenticate(mine.key)).rejects.toMatchObject({ code: 'api_key_revoked' })
  expect((await ask('DELETE', `/app/api/keys/${theirs.id}`, admin)).status).toBe(200)
  await expect(authenticate(theirs.key)).rejects.toMatchObject({ code: 'api_key_revoked' })
})

test('what may not be created is refused, with who may grant it', async () => {
  const barred = await join({ role: 'member', brandIds: [brand], permissions: ['email:send'] })
  const refused = await newKey(barred, { brand_id: brand })
  expect(outcome(refused)).toEqual([403, 'insufficient_scope'])
  expect(refused.json.error.message).toBe(
    `${barred.session.email} has no API access; ask an owner: ${owner.session.email}.`,
  )
  expect((await ask('GET', '/app/api/keys', barred)).json.api_access).toEqual({
    is_granted: false,
    ask: [owner.session.email],
  })
  expect((await ask('GET', '/app/api/keys', member)).json.api_access).toEqual({ is_granted: true, ask: [] })
  expect(outcome(await newKey(member))).toEqual([403, 'brand_restricted'])
  expect(outcome(await newKey(member, { brand_id: otherBrand }))).toEqual([403, 'brand_restricted'])
  expect(outcome(await newKey(member, { brand_id: brand, scopes: ['members:read'] }))).toEqual([
    403,
    'insufficient_scope',
  ])
  expect(outcome(await newKey(owner, { brand_id: brand, scopes: ['members:read'] }))).toEqual([400, 'invalid_request'])
  expect(outcome(await newKey(owner, { expires_at: '2020-01-01T00:00:00Z' }))).toEqual([400, 'invalid_request'])
  expect(outcome(await newKey(owner, { scopes: [] }))).toEqual([400, 'invalid_request'])
})

test('a key says why it no longer works', async () => {
  const leaving = await join({ role: 'member', brandIds: [brand], permissions })
  const created = (await newKey(leaving, { brand_id: brand })).json
  const stateOf = async () => {
    const { json } = await ask('GET', `/app/api/keys?state=all&member_id=${leaving.memberId}`, owner)
    return json.data.map(({ id, state }: { id: string; state: string }) => [id, state])
  }
  await changeMember({ db: database.db, clock }, acting(owner), leaving.memberId, { permissions: ['email:send'] })
  expect(await stateOf()).toEqual([[created.id, 'suspended']])
  await removeMember({ db: database.db, clock }, acting(owner), leaving.memberId)
  expect(await stateOf()).toEqual([[created.id, 'revoked']])
  const live = await ask('GET', `/app/api/keys?member_id=${leaving.memberId}`, owner)
  expect(live.json.data).toEqual([])
})

test('keys come in pages, newest first', async () => {
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.unshift((await newKey(owner)).json.id)
  const seen: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 20 && seen.length < 5; pages++) {
    const { json } = await ask('GET', `/app/api/keys?limit=2${cursor}`, owner)
    seen.push(...json.data.map(({ id }: { id: string }) => id))
    cursor = `&cursor=${json.next_cursor}`
  }
  expect(seen.slice(0, 5)).toEqual(ids)
})

test('owners and admins see how members sign in, and which keys a removal ends; never a secret', async () => {
  const holder = await join({ role: 'member', brandIds: [brand], permissions })
  await newKey(holder, { brand_id: brand })
  const { json, text } = await ask('GET', '/app/api/people?limit=200', admin)
  expect(json.data.find(({ id }: { id: string }) => id === holder.memberId)).toMatchObject({
    role: 'member',
    brand_ids: [brand],
    live_keys: 1,
    factors: { has_password: false, has_authenticator: false, passkeys: 0, sessions: 1 },
  })
  expect(text).not.toMatch(/secret|hash|credential/)
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const page = (await ask('GET', `/app/api/people?limit=2${cursor}`, owner)).json
    seen.push(...page.data.map(({ id }: { id: string }) => id))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  expect(seen).toEqual(json.data.map(({ id }: { id: string }) => id))
  expect(outcome(await ask('GET', '/app/api/people', member))).toEqual([403, 'role_not_allowed'])
})

test('ending the sessions of a member leaves none, and is recorded', async () => {
  const target = await join({ role: 'admin' })
  const path = `/app/api/people/${target.memberId}/end-sessions`
  expect(outcome(await ask('POST', path, member))).toEqual([403, 'role_not_allowed'])
  expect((await ask('POST', path, admin)).json).toEqual({ id: target.memberId, ended: 1 })
  const left = await database.db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', target.session.userId)
    .execute()
  expect(left).toEqual([])
  const { json } = await ask('GET', '/app/api/audit?action=member.end-sessions', owner)
  expect(json.data[0]).toMatchObject({ actor: admin.session.email, subject: target.memberId, ip: memberIp })
})

test('an owner alone changes roles, and never takes the last owner', async () => {
  const target = await join({ role: 'member', brandIds: [brand], permissions: ['inbox:read'] })
  const change = (as: TestMember, id: string, body: object) => ask('PATCH', `/app/api/people/${id}/role`, as, { body })
  expect(outcome(await change(admin, target.memberId, { role: 'admin' }))).toEqual([403, 'role_not_allowed'])
  expect((await change(owner, target.memberId, { role: 'admin' })).json).toMatchObject({
    role: 'admin',
    brand_ids: null,
  })
  expect(outcome(await change(owner, target.memberId, { role: 'member' }))).toEqual([400, 'invalid_request'])
  expect(outcome(await change(owner, target.memberId, { role: 'admin', brand_ids: [brand] }))).toEqual([
    400,
    'invalid_request',
  ])
  const limited = await change(owner, target.memberId, {
    role: 'member',
    brand_ids: [otherBrand],
    permissions: ['inbox:read'],
  })
  expect(limited.json).toMatchObject({ role: 'member', brand_ids: [otherBrand], permissions: ['inbox:read'] })
  expect(outcome(await change(owner, owner.memberId, { role: 'admin' }))).toEqual([409, 'last_owner'])
  const { json } = await ask('GET', '/app/api/audit?action=member.role', owner)
  expect(json.data[0]).toMatchObject({
    actor: owner.session.email,
    subject: target.memberId,
    detail: { before: 'admin', role: 'member' },
  })
})

test('of two who change a role after the same reading, the later is refused', async () => {
  const target = await join({ role: 'admin' })
  const read = async () => {
    const { json } = await ask('GET', '/app/api/people?limit=200', owner)
    return json.data.find(({ id }: { id: string }) => id === target.memberId)
  }
  const change = (body: object) => ask('PATCH', `/app/api/people/${target.memberId}/role`, owner, { body })
  await expectConditionalChangeOf({ db: database.db, read, change }, [
    { role: 'member', brand_ids: [brand], permissions: ['inbox:read'] },
    { role: 'owner' },
  ])
})

test('of two who rename the organization after the same reading, the later is refused', async () => {
  const { name } = (await ask('GET', '/app/api/organization', owner)).json
  const read = async () => (await ask('GET', '/app/api/organization', owner)).json
  const change = (body: object) => ask('PATCH', '/app/api/organization', admin, { body })
  await expectConditionalChangeOf({ db: database.db, read, change }, [{ name: 'First' }, { name: 'Second' }])
  await change({ name })
})

test('of two who set a retention time after the same reading, the later is refused, also for the first time', async () => {
  const path = '/app/api/organization/retention'
  const read = async () =>
    (await ask('GET', path, owner)).json.data.find(({ kind }: { kind: string }) => kind === 'spam')
  const set = (days: number | string, updatedAt: unknown, of: object = {}) =>
    ask('PUT', path, owner, { body: { kind: 'spam', days, if_updated_at: updatedAt, ...of } })
  expect((await read()).updated_at).toBeNull()
  const first = await Promise.all([7, 8, 9].map(days => set(days, 'never')))
  expect(first.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  expect(first.map(outcome)).toContainEqual([409, 'changed_since_read'])
  const saved = await read()
  expect([saved.set_for, typeof saved.updated_at]).toEqual(['organization', 'string'])
  expect(outcome(await set('forever', 'never'))).toEqual([409, 'changed_since_read'])
  expect(await read()).toEqual(saved)
  expect((await set(10, saved.updated_at)).status).toBe(200)
  expect(outcome(await set('inherit', saved.updated_at))).toEqual([409, 'changed_since_read'])
  expect(outcome(await set(10, 'today'))).toEqual([400, 'invalid_request'])
  expect((await set(5, 'never', { brand_id: brand })).status).toBe(200)
  expect((await read()).brands).toEqual([{ brand_id: brand, days: 5, updated_at: expect.any(String) }])
  expect(outcome(await set(6, 'never', { brand_id: brand }))).toEqual([409, 'changed_since_read'])
  expect((await set('inherit', (await read()).updated_at)).status).toBe(200)
})

test('what hurts wants a confirmation', async () => {
  const unconfirmed = { isConfirmed: false }
  const asked = [
    await newKey(owner, {}, unconfirmed),
    await ask('PATCH', `/app/api/people/${member.memberId}/role`, owner, { body: { role: 'admin' }, ...unconfirmed }),
    await ask('PATCH', '/app/api/organization', owner, { body: { name: 'New' }, ...unconfirmed }),
    await ask('PUT', '/app/api/organization/retention', owner, { body: { kind: 'trash', days: 7 }, ...unconfirmed }),
  ]
  expect(asked.map(outcome)).toEqual(asked.map(() => [403, 'confirmation_required']))
})

test('the name, the plan and the usage of the month', async () => {
  const { json } = await ask('GET', '/app/api/organization', member)
  expect(json).toMatchObject({ id: organizationId, plan: 'free', usage: { used: 0, included: 3000, overage: 0 } })
  expect(outcome(await ask('PATCH', '/app/api/organization', member, { body: { name: 'Mine' } }))).toEqual([
    403,
    'role_not_allowed',
  ])
  const renamed = await ask('PATCH', '/app/api/organization', admin, { body: { name: ' Acme Ltd ' } })
  expect(renamed.json.name).toBe('Acme Ltd')
  const { json: audit } = await ask('GET', '/app/api/audit?action=org.rename', admin)
  expect(audit.data[0]).toMatchObject({ actor: admin.session.email, detail: { from: 'Acme', to: 'Acme Ltd' } })
})

test('a paused brand is shown to those who have it', async () => {
  const at = clock.now()
  const pause = { brand_id: otherBrand, paused_at: at, reason: 'Too many bounces.', counted_from: at }
  await database.db.insertInto('brand_pauses').values(pause).execute()
  const paused = async (as: TestMember) => (await ask('GET', '/app/api/organization', as)).json.paused_brands
  expect(await paused(owner)).toMatchObject([{ id: otherBrand, name: 'Two', reason: 'Too many bounces.' }])
  expect(await paused(member)).toEqual([])
  expect(await paused(stranger)).toEqual([])
})

test('retention is shown, set for the organization or a brand, and never below its minimum', async () => {
  const set = (body: object, as = owner) => ask('PUT', '/app/api/organization/retention', as, { body })
  const row = (response: SessionAnswer, kind: string) =>
    response.json.data.find((found: { kind: string }) => found.kind === kind)
  expect(row(await ask('GET', '/app/api/organization/retention', admin), 'trash')).toMatchObject({
    days: 30,
    set_for: 'instance',
    brands: [],
  })
  expect(row(await set({ kind: 'trash', days: 7 }), 'trash')).toMatchObject({ days: 7, set_for: 'organization' })
  expect(row(await set({ kind: 'trash', days: 'forever', brand_id: brand }), 'trash').brands).toEqual([
    { brand_id: brand, days: null, updated_at: expect.any(String) },
  ])
  expect(row(await set({ kind: 'trash', days: 'inherit' }), 'trash')).toMatchObject({ days: 30, set_for: 'instance' })
  expect(outcome(await set({ kind: 'events', days: 1 }))).toEqual([400, 'invalid_request'])
  expect(outcome(await set({ kind: 'trash', days: 7 }, member))).toEqual([403, 'role_not_allowed'])
  expect((await ask('GET', '/app/api/organization/retention/plan', owner)).json).toEqual({
    data: [],
    is_complete: true,
  })
})

test('the ids of another organization do not exist, and its audit log is its own', async () => {
  const foreign = (await newKey(stranger)).json.id
  const asked = [
    await ask('DELETE', `/app/api/keys/${foreign}`, owner),
    await newKey(stranger, { brand_id: brand }),
    await ask('POST', `/app/api/people/${stranger.memberId}/end-sessions`, owner),
    await ask('PATCH', `/app/api/people/${stranger.memberId}/role`, owner, { body: { role: 'admin' } }),
    await ask('PUT', '/app/api/organization/retention', stranger, {
      body: { kind: 'trash', days: 7, brand_id: brand },
    }),
  ]
  expect(asked.map(outcome)).toEqual(asked.map(() => [404, 'not_found']))
  const audit = (await ask('GET', '/app/api/audit?limit=200', owner)).json.data
  expect(audit.some((entry: { subject: string }) => entry.subject === foreign)).toBe(false)
  expect((await ask('GET', '/app/api/audit', stranger)).json.data).toMatchObject([
    { action: 'key.create', subject: foreign },
  ])
  expect(outcome(await ask('GET', '/app/api/audit', member))).toEqual([403, 'role_not_allowed'])
})

test('what an API key changes of members is recorded with its id', async () => {
  const target = await join({ role: 'member', brandIds: [brand], permissions })
  const { id } = (await newKey(owner, { scopes: ['members:write'] })).json
  const key = { organizationId, role: 'owner', keyId: id } as const
  await changeMember({ db: database.db, clock }, key, target.memberId, { permissions: ['inbox:read'] })
  await removeMember({ db: database.db, clock }, key, target.memberId)
  const { json } = await ask('GET', '/app/api/audit?limit=2', owner)
  const entries = json.data.map(({ actor, action, subject, ip }: Record<string, unknown>) => [
    actor,
    action,
    subject,
    ip,
  ])
  expect(entries).toEqual([
    [id, 'member.remove', target.memberId, null],
    [id, 'member.change', target.memberId, null],
  ])
})
