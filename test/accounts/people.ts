import { createBrand } from '../../src/accounts/brands/brands.ts'
import { addMember, type MemberAccess } from '../../src/accounts/members/members.ts'
import { createOrganization } from '../../src/accounts/organizations/organizations.ts'
import { startSession } from '../../src/accounts/sessions/sessions.ts'
import { addUser } from '../../src/accounts/users/users.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'

let count = 0

/** A person with an account. */
export function newUser(db: Db, clock: Clock) {
  const number = ++count
  return addUser(db, { email: `user-${number}@people.test`, name: `User ${number}` }, clock)
}

export async function newOrganization(db: Db, clock: Clock): Promise<Id<'org'>> {
  return (await createOrganization(db, { name: `Organization ${++count}`, plan: 'unlimited' }, clock)).id
}

export async function newBrandOf(db: Db, organizationId: Id<'org'>, clock: Clock): Promise<Id<'brd'>> {
  const tenant = { organizationId, brandId: null }
  const { id } = await createBrand({ db, clock }, tenant, { name: `Brand ${++count}`, slug: `brand-${count}` })
  return id as Id<'brd'>
}

/** Makes the person a member of the organization. */
export async function joinAs(
  db: Db,
  user: { readonly id: Id<'usr'>; readonly email: string; readonly name: string },
  organizationId: Id<'org'>,
  access: MemberAccess,
  clock: Clock,
): Promise<Id<'mem'>> {
  const { id } = await addMember(db, { organizationId, email: user.email, name: user.name, access }, clock)
  await db.updateTable('members').set({ user_id: user.id }).where('id', '=', id).execute()
  return id
}

const client = { ip: '192.0.2.7', userAgent: 'Test/1.0' }

/** The cookie of a new session of this person. */
export async function signIn(db: Db, userId: Id<'usr'>, clock: Clock): Promise<{ id: Id<'ses'>; cookie: string }> {
  return startSession(db, userId, client, clock)
}
