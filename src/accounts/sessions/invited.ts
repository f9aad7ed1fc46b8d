import type { Session } from '../../api/session/session.ts'
import { inTransaction } from '../../base/database/database.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { acceptOpenInvitation, getInvitationLink, invitedEmail, lockOpenInvitation } from '../invitations/links.ts'
import { updateMemberUser } from '../members/table.ts'
import { selectUserByEmail } from '../users/table.ts'
import { accountExists, accountExistsRefusals, addUser } from '../users/users.ts'
import type { SignInDeps, SignInRequest } from './deps.ts'
import type { InvitationLookJson } from './schema.ts'
import { type IssuedSession, startSession } from './sessions.ts'
import { setCookies } from './sign-in.ts'

/** The refusals of what is done with an invitation's link in the dashboard. */
export const invitedRefusals = ['not_found', 'invitation_closed', ...accountExistsRefusals, 'rate_limited'] as const

/** What the invitation grants, and whether whom it is for has an account. @throws Refusal `not_found`, `invitation_closed` */
export async function lookAtInvitation(deps: SignInDeps, token: string): Promise<InvitationLookJson> {
  const invitation = await getInvitationLink(deps, token)
  const user = invitation.email === null ? undefined : await selectUserByEmail(deps.db, invitation.email)
  return { ...invitation, has_account: user !== undefined }
}

/**
 * Makes a new person, who has no account here, a member, and signs them in.
 * @throws Refusal `not_found`, `invitation_closed`, `account_exists`, `invalid_request` for an email that is not the invited one
 */
export async function joinByInvitation(
  deps: SignInDeps,
  request: SignInRequest,
  { token, email: typed, name }: { readonly token: string; readonly email?: string | undefined; readonly name: string },
): Promise<IssuedSession> {
  const { db, clock } = deps
  const { user, issued } = await inTransaction(db, async tx => {
    const invitation = await lockOpenInvitation(tx, token, clock)
    const email = invitedEmail(invitation, typed)
    if (await selectUserByEmail(tx, email)) throw accountExists(email)
    const user = await addUser(tx, { email, name }, clock)
    const member = await acceptOpenInvitation(tx, invitation, { email, name, ip: request.ip }, clock)
    await updateMemberUser(tx, member.id, user.id)
    await recordAuditEntry(
      tx,
      { actor: email, clock, ip: request.ip },
      { action: 'account.sign_in', subject: user.id, detail: { with: 'invitation', invitation: invitation.id } },
    )
    return { user, issued: await startSession(tx, user.id, request, clock) }
  })
  setCookies(deps, request, user, issued)
  return issued
}

/**
 * Makes the person who is signed in a member.
 * @throws Refusal `not_found`, `invitation_closed`, `invalid_request` when it is for another email, or they are a member already
 */
export async function acceptInvitationAs(
  { db, clock }: SignInDeps,
  request: SignInRequest,
  { userId, email, name }: Session,
  token: string,
): Promise<void> {
  await inTransaction(db, async tx => {
    const invitation = await lockOpenInvitation(tx, token, clock)
    const accepted = { email: invitedEmail(invitation, email), name, ip: request.ip }
    const member = await acceptOpenInvitation(tx, invitation, accepted, clock)
    await updateMemberUser(tx, member.id, userId)
  })
}
