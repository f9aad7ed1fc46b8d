import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { addMember } from '../members/members.ts'
import { maxMemberNameLength } from '../members/schema.ts'
import { createLoginLink, type LoginLink } from '../sessions/login-links.ts'

/** An owner who has just been added. */
export interface AddedOwner {
  readonly memberId: Id<'mem'>
  readonly email: string
  /** Signs them in for the first time. */
  readonly link: LoginLink
}

/**
 * Adds an owner to an organization, in the caller's transaction, and creates the link with which they sign in. Until they
 * say theirs, their name is what their address begins with.
 * @param email in the form of `canonicalEmail`
 * @throws Refusal `invalid_request` when the organization already has a member with this email
 */
export async function addOwner(db: Db, organizationId: Id<'org'>, email: string, clock: Clock): Promise<AddedOwner> {
  const name = email.slice(0, email.lastIndexOf('@')).slice(0, maxMemberNameLength)
  const { id } = await addMember(db, { organizationId, email, name, access: { role: 'owner' } }, clock)
  return { memberId: id, email, link: await createLoginLink(db, { memberId: id }, clock) }
}
