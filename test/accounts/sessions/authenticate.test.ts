import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openSessionAuthenticator, type SessionAuthenticator } from '../../../src/accounts/sessions/authenticate.ts'
import { addOperator, removeOperator } from '../../../src/accounts/users/operators.ts'
import { scopes } from '../../../src/api/scope.ts'
import { dayMs, hourMs, type Instant, minuteMs } from '../../../src/base/clock.ts'
import type { Id } from '../../../src/base/ids.ts'
import { type FreshDatabase, freshDatabase } from '../../harness/database.ts'
import { testClock } from '../../harness/http-server.ts'
import { joinAs, newBrandOf, newOrganization, newUser, signIn } from '../people.ts'

let database: FreshDatabase
let sessions: SessionAuthenticator
const clock = testClock()
const remote = { isLocalhost: false }

beforeAll(async () => {
  database = await freshDatabase()
  sessions = openSessionAuthenticator(database.db, clock)
})
afterAll(async () => {
  await sessions.close()
  await database.close()
})

async function signedIn() {
  const { db } = database
  const user = await newUser(db, clock)
  return { user, ...(await signIn(db, user.id, clock)) }
}

/** The code of the refusal. */
async function refusalOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    error => error.code,
  )
}

test('a cookie stands for its session, of which the database keeps no secret', async () => {
  const { user, id, cookie } = await signedIn()
  const session = await sessions.authenticate(cookie, remote)
  expect(session).toEqual({
    id,
    userId: user.id,
    email: user.email,
    name: user.name,
    isOperator: false,
    needsFactor: false,
    confirmedAt: expect.any(String),
    isConfirmed: true,
  })
  const row = await database.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const secret = cookie.slice(27)
  expect(secret).toHaveLength(43)
  for (const value of Object.values(row)) expect(Buffer.from(String(value)).includes(secret)).toBe(false)
})

test('nothing else stands for it', async () => {
  const { id, cookie } = await signedIn()
  const another = await signedIn()
  const bare = id.slice(4)
  const wrong = [
    undefined,
    '',
    bare,
    `${bare}.`,
    `${bare}.${another.cookie.slice(27)}`,
    `${cookie}x`,
    cookie.slice(0, -1),
  ]
  for (const text of wrong) expect(await sessions.authenticate(text, remote)).toBeNull()
})

test('a session that has expired, was idle or was ended is refused at the next request', async () => {
  const { db } = database
  const { id, cookie } = await signedIn()
  const change = (values: { expires_at?: Instant; last_used_at?: Instant }) =>
    db.updateTable('sessions').set(values).where('id', '=', id).execute()
  const { expires_at } = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  await change({ expires_at: '2020-01-01 00:00:00.000000' as Instant })
  expect(await sessions.authenticate(cookie, remote)).toBeNull()
  await change({ expires_at })
  expect(await sessions.authenticate(cookie, remote)).not.toBeNull()
  await db.deleteFrom('sessions').where('id', '=', id).execute()
  expect(await sessions.authenticate(cookie, remote)).toBeNull()
})

test('a session lasts while it is used, for 12 hours without use, and for seven days at most', async () => {
  const { id, cookie } = await signedIn()
  const lastUse = () =>
    database.db.selectFrom('sessions').select('last_used_at').where('id', '=', id).executeTakeFirstOrThrow()
  for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
    expect(await sessions.authenticate(cookie, remote)).not.toBeNull()
    await sessions.close()
    const { last_used_at } = await lastUse()
    expect(last_used_at.slice(0, 16)).toBe(clock.now().slice(0, 16))
    clock.forward(11 * hourMs)
  }
  clock.forward(dayMs)
  expect(await sessions.authenticate(cookie, remote)).toBeNull()

  const idle = await signedIn()
  clock.forward(12 * hourMs - minuteMs)
  expect(await sessions.authenticate(idle.cookie, remote)).not.toBeNull()
  const unused = await signedIn()
  clock.forward(12 * hourMs + minuteMs)
  expect(await sessions.authenticate(unused.cookie, remote)).toBeNull()
})

test('a confirmation lasts ten minutes', async () => {
  const { cookie } = await signedIn()
  clock.forward(9.9 * minuteMs)
  expect((await sessions.authenticate(cookie, remote))?.isConfirmed).toBe(true)
  clock.forward(0.2 * minuteMs)
  expect((await sessions.authenticate(cookie, remote))?.isConfirmed).toBe(false)
})

test('owners, admins and operators need a factor, though not on localhost', async () => {
  const { db } = database
  const needsFactor = async (cookie: string, isLocalhost = false) =>
    (await sessions.authenticate(cookie, { isLocalhost }))?.needsFactor

  const { user, cookie } = await signedIn()
  const organization = await newOrganization(db, clock)
  const brandIds = [await newBrandOf(db, organization, clock)]
  const member = await joinAs(db, user, organization, { role: 'member', brandIds, permissions: [] }, clock)
  expect(await needsFactor(cookie)).toBe(false)
  await db.updateTable('members').set({ role: 'admin' }).where('id', '=', member).execute()
  expect(await needsFactor(cookie)).toBe(true)
  expect(await needsFactor(cookie, true)).toBe(false)
  await db
    .updateTable('users')
    .set({ totp_secret: 'sealed', totp_sealed_by: 'key' })
    .where('id', '=', user.id)
    .execute()
  expect(await needsFactor(cookie)).toBe(false)

  const another = await signedIn()
  await addOperator(db, another.user.email, clock)
  expect(await needsFactor(another.cookie)).toBe(true)
  expect((await sessions.authenticate(another.cookie, remote))?.isOperator).toBe(true)
  await removeOperator(db, { actor: 'root', clock }, another.user.email)
  expect(await sessions.authenticate(another.cookie, remote)).toMatchObject({ isOperator: false, needsFactor: false })
})

test('a person acts as the member that they are in the organization that is named', async () => {
  const { db } = database
  const { user, cookie } = await signedIn()
  const session = await sessions.authenticate(cookie, remote)
  if (!session) throw new Error('not signed in')
  const ask = (organization?: string, brand?: string) =>
    sessions.resolveMember(session, { organization, brand, ip: '192.0.2.1' })
  expect(await refusalOf(ask())).toBe('organization_required')

  const own = await newOrganization(db, clock)
  const ownBrand = await newBrandOf(db, own, clock)
  const owner = await joinAs(db, user, own, { role: 'owner' }, clock)
  const person = { email: user.email, ip: '192.0.2.1' }
  const asOwner = {
    person,
    memberId: owner,
    organizationId: own,
    role: 'owner',
    brandIds: null,
    denial: null,
    hasApiAccess: true,
  }
  expect(await ask()).toMatchObject({ ...asOwner, keyId: null, brandId: null, scopes: new Set(scopes) })
  expect(await ask(own, ownBrand)).toMatchObject({ ...asOwner, brandId: ownBrand })

  const theirs = await newOrganization(db, clock)
  const brands = [await newBrandOf(db, theirs, clock), await newBrandOf(db, theirs, clock)] as const
  const foreignBrand = await newBrandOf(db, theirs, clock)
  const access = { role: 'member', brandIds: brands, permissions: ['inbox:read', 'api_access'] } as const
  const member = await joinAs(db, user, theirs, access, clock)
  const asMember = { memberId: member, role: 'member', brandIds: [...brands], scopes: new Set(['inbox:read']) }
  expect(await refusalOf(ask())).toBe('organization_required')
  expect(await ask(theirs)).toMatchObject({ ...asMember, brandId: brands[0], hasApiAccess: true })
  expect(await ask(theirs, brands[1])).toMatchObject({ ...asMember, brandId: brands[1] })
  expect(await refusalOf(ask(theirs, foreignBrand))).toBe('brand_restricted')
  expect(await refusalOf(ask(own, foreignBrand))).toBe('not_found')

  await db.deleteFrom('member_brands').where('member_id', '=', member).execute()
  const denied = await ask(theirs)
  expect([denied.denial?.code, denied.scopes.size]).toEqual(['brand_restricted', 0])

  const foreign: Id<'org'> = await newOrganization(db, clock)
  expect(await refusalOf(ask(foreign))).toBe('not_found')
  expect(await refusalOf(ask('org_1'))).toBe('not_found')
  await db.deleteFrom('members').where('id', '=', member).execute()
  expect(await refusalOf(ask(theirs))).toBe('not_found')
})

test('a member was last active when their person was', async () => {
  const { db } = database
  const { user, cookie } = await signedIn()
  const member = await joinAs(db, user, await newOrganization(db, clock), { role: 'owner' }, clock)
  const session = await sessions.authenticate(cookie, remote)
  if (!session) throw new Error('not signed in')
  await sessions.resolveMember(session, { organization: undefined, brand: undefined, ip: '192.0.2.1' })
  await sessions.close()
  const row = await db.selectFrom('members').selectAll().where('id', '=', member).executeTakeFirstOrThrow()
  expect(row.last_active_at?.slice(0, 16)).toBe(clock.now().slice(0, 16))
})
