import { type Clock, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { hashToken } from '../../base/secrets/token.ts'
import { recordAuditEntry } from '../audit/audit.ts'
import { selectBrandNames } from '../brands/table.ts'
import { parsePermissions } from '../keys/permissions.ts'
import { addMember } from '../members/members.ts'
import type { MemberJson } from '../members/schema.ts'
import { parseInviteeEmail, requireOpen } from './invitations.ts'
import type { InvitationLinkJson } from './schema.ts'
import { type InvitationRow, lockInvitationByToken, selectInvitationByToken, updateInvitation } from './table.ts'

export interface InvitationLinkDeps {
  readonly db: Db
  readonly clock: Clock
}

/** The refusals of both uses of a link. Who tries too many links is refused as `rate_limited`. */
export const invitationLinkRefusals = ['not_found', 'invitation_closed', 'rate_limited'] as const

/** What the invitation behind a link grants. @throws Refusal `not_found`, `invitation_closed` */
export async function getInvitationLink(deps: InvitationLinkDeps, token: string): Promise<InvitationLinkJson> {
  const invitation = await selectInvitationByToken(deps.db, hashToken(token))
  if (!invitation) throw noInvitation()
  requireOpen(invitation, deps.clock.now())
  const names = await selectBrandNames(deps.db, invitation.organization_id, fromJson(invitation.brand_ids))
  return {
    organization: { name: invitation.organization_name },
    brands: names.map(name => ({ name })),
    email: invitation.email,
    role: 'member',
    permissions: [...parsePermissions(invitation.permissions)],
    expires_at: toIso(invitation.expires_at),
  }
}

/** The open invitation with this link, locked until the transaction ends. @throws Refusal `not_found`, `invitation_closed` */
export async function lockOpenInvitation(db: Db, token: string, clock: Clock): Promise<InvitationRow> {
  const invitation = await lockInvitationByToken(db, hashToken(token))
  if (!invitation) throw noInvitation()
  requireOpen(invitation, clock.now())
  return invitation
}

/** Who accepts an invitation. */
interface Invitee {
  /** In the form of {@link invitedEmail}. */
  readonly email: string
  readonly name: string
  /** For the audit log; absent: the invitation is accepted outside the dashboard. */
  readonly ip?: string
}

/**
 * Adds the member that the invitation is for, and closes it, in the caller's transaction, which locked it.
 * @throws Refusal `invalid_request` for an email that is already a member's
 */
export async function acceptOpenInvitation(
  db: Db,
  invitation: InvitationRow,
  { email, name, ip }: Invitee,
  clock: Clock,
): Promise<MemberJson & { readonly id: Id<'mem'> }> {
  const { organization_id: organizationId } = invitation
  const access = {
    role: 'member',
    brandIds: fromJson(invitation.brand_ids),
    permissions: parsePermissions(invitation.permissions),
  } as const
  const member = await addMember(db, { organizationId, email, name, access }, clock)
  await updateInvitation(db, organizationId, invitation.id, { accepted_at: clock.now(), member_id: member.id })
  await recordAuditEntry(
    db,
    { actor: email, clock, ...(ip !== undefined && { ip }) },
    { action: 'invitation.accept', subject: invitation.id, detail: { member: member.id }, organizationId },
  )
  return member
}

/**
 * Makes whoever holds the link a member of the inviting organization and closes the invitation. When several accept at
 * once, one succeeds.
 * @throws Refusal `not_found`, `invitation_closed`, `invalid_request` for an email that is malformed, differs from the
 * invited one, or is already a member's
 */
export function acceptInvitation(
  deps: InvitationLinkDeps,
  token: string,
  { email, name }: { readonly email?: string | undefined; readonly name: string },
): Promise<MemberJson> {
  return inTransaction(deps.db, async db => {
    const invitation = await lockOpenInvitation(db, token, deps.clock)
    return acceptOpenInvitation(db, invitation, { email: invitedEmail(invitation, email), name }, deps.clock)
  })
}

/** Does not repeat the token: it is a secret, and counts as a failed authentication. */
function noInvitation() {
  return refuse('not_found', { message: 'There is no invitation with this link.', isFailedAuthentication: true })
}

/**
 * The email of the member that the invitation makes.
 * @throws Refusal `invalid_request` for one that is malformed, absent, or not the invited one
 */
export function invitedEmail(invitation: InvitationRow, acceptedAs: string | undefined): string {
  const email = acceptedAs === undefined ? undefined : parseInviteeEmail(acceptedAs)
  if (invitation.email === null && email === undefined)
    throw refuse('invalid_request', {
      message: '`email` is required: the invitation is not for a particular address.',
      param: 'email',
    })
  if (invitation.email !== null && email !== undefined && email !== invitation.email)
    throw refuse('invalid_request', {
      message: `The invitation is for another address than ${email}.`,
      param: 'email',
    })
  return invitation.email ?? email ?? ''
}
