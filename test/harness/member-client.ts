import type { AnyElysia } from 'elysia'
import { addMember, type MemberAccess } from '../../src/accounts/members/members.ts'
import { findMembership } from '../../src/accounts/sessions/member.ts'
import { startSession } from '../../src/accounts/sessions/sessions.ts'
import { addUser } from '../../src/accounts/users/users.ts'
import type { Session } from '../../src/api/session/session.ts'
import type { Clock } from '../../src/base/clock.ts'
import { type Db, inTransaction } from '../../src/base/database/database.ts'
import type { Id } from '../../src/base/ids.ts'
import { answerInSession, type SessionAnswer, testSession } from './session.ts'

/** A person who is signed in, as tests of the dashboard's routes need them. */
export interface TestMember {
  readonly memberId: Id<'mem'>
  readonly organizationId: Id<'org'>
  readonly session: Session
}

export interface MemberCall {
  readonly body?: object
  /** The brand that the request names. */
  readonly brand?: string
  /** Have they presented a factor within the last ten minutes? By default they have. */
  readonly isConfirmed?: boolean
}

export const memberIp = '192.0.2.44'

let count = 0

/** Adds a person with a session to an organization. */
export function newSessionMember(
  db: Db,
  clock: Clock,
  organizationId: Id<'org'>,
  access: MemberAccess,
): Promise<TestMember> {
  const email = `${access.role}-${++count}@people.test`
  return inTransaction(db, async tx => {
    const user = await addUser(tx, { email, name: `Person ${count}` }, clock)
    const member = await addMember(tx, { organizationId, email, name: user.name, access }, clock)
    await tx.updateTable('members').set({ user_id: user.id }).where('id', '=', member.id).execute()
    const { id } = await startSession(tx, user.id, { ip: memberIp, userAgent: null }, clock)
    const session = testSession({ id, userId: user.id, email, name: user.name, confirmedAt: clock.now() })
    return { memberId: member.id, organizationId, session }
  })
}

/** Calls routes of the dashboard as members, without the server in front of them. */
export function openMemberClient(db: Db, apps: readonly AnyElysia[]) {
  return (
    method: string,
    path: string,
    { session, organizationId }: TestMember,
    { body, brand, isConfirmed = true }: MemberCall = {},
  ): Promise<SessionAnswer> => {
    const now = { ...session, isConfirmed }
    const request = { organization: organizationId, brand, ip: memberIp }
    const member = async () => (await findMembership(db, now, request)).member
    return answerInSession(apps, { method, path, body }, { session: now, ip: memberIp, member })
  }
}
