import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Role } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { addMember } from '../members/members.ts'
import { maxMemberNameLength } from '../members/schema.ts'
import { selectMemberByEmail, updateMemberUser } from '../members/table.ts'
import { createLoginLink, type LoginLink } from '../sessions/login-links.ts'
import { type AddedOperator, addOperator } from '../users/operators.ts'
import { selectUser } from '../users/table.ts'

export interface OwnerRequest {
  readonly organizationId: Id<'org'>
  /** In the form of `canonicalEmail`. */
  readonly email: string
  /** They also operate the instance. */
  readonly isOperator: boolean
}

/** The member with an owner's email, and what was done for it. */
export interface EnsuredOwner {
  readonly memberId: Id<'mem'>
  readonly email: string
  /** `owner`, unless they were a member before, with another role. */
  readonly role: Role
  readonly wasMember: boolean
  /** The account of the new operator; null: they were one before, or are not to be one. */
  readonly newOperator: Id<'usr'> | null
  /** Signs them in for the first time; null: they have signed in before. */
  readonly link: LoginLink | null
}

/**
 * Makes sure that an organization has an owner with this email, in the caller's transaction, and creates a link for whoever
 * has not signed in yet. Until they say theirs, the name of a new owner is what their address begins with. A member with
 * another role keeps it, and is neither made an operator nor gets a link.
 */
export async function ensureOwner(
  db: Db,
  { organizationId, email, isOperator }: OwnerRequest,
  clock: Clock,
): Promise<EnsuredOwner> {
  const before = await selectMemberByEmail(db, organizationId, email)
  const member = before ?? (await addOwner(db, organizationId, email, clock))
  const owner = { memberId: member.id, email, role: member.role, wasMember: before !== undefined }
  if (member.role !== 'owner') return { ...owner, newOperator: null, link: null }
  const operator = isOperator ? await addOperator(db, email, clock) : undefined
  const userId = before?.user_id ?? (operator && (await joinNewAccount(db, member.id, operator)))
  const user = userId && (await selectUser(db, userId))
  return {
    ...owner,
    newOperator: operator && !operator.wasOperator ? operator.userId : null,
    link: user && user.last_sign_in_at !== null ? null : await createLoginLink(db, { memberId: member.id }, clock),
  }
}

function addOwner(db: Db, organizationId: Id<'org'>, email: string, clock: Clock) {
  const name = email.slice(0, email.lastIndexOf('@')).slice(0, maxMemberNameLength)
  return addMember(db, { organizationId, email, name, access: { role: 'owner' } }, clock)
}

/**
 * An account in which nobody has signed in yet was made for this email by the operator alone, and becomes the member's. Any
 * other one is joined with the member only by who is signed in to it.
 */
async function joinNewAccount(db: Db, memberId: Id<'mem'>, { userId, link }: AddedOperator): Promise<Id<'usr'> | null> {
  if (link === null) return null
  await updateMemberUser(db, memberId, userId)
  return userId
}
