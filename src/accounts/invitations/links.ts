import type { Clock } from '../../base/clock.ts'
import { toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { fromJson } from '../../base/database/schema.ts'
import { refuse } from '../../base/refusal.ts'
import { parsePermissions } from '../keys/permissions.ts'
import { addMember } from '../members/members.ts'
import type { MemberJson } from '../members/schema.ts'
import { selectBrandNames } from '../organizations/table.ts'
import { hashToken, parseInviteeEmail, requireOpen } from './invitations.ts'
import type { InvitationLinkJson } from './schema.ts'
import { type InvitationRow, lockInvitationByToken, selectInvitationByToken, updateInvitation } from './table.ts'

/** What those who follow a link need. */
export interface InvitationLinkDeps {
  readonly db: Db
  readonly clock: Clock
}

/** What the link invites to. @throws Refusal `not_found`, `invitation_closed` */
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

/**
 * Makes whoever holds the link a member of the organization that invited, and closes the invitation: of several who
 * accept at once, one does.
 * @throws Refusal `not_found`, `invitation_closed`, `invalid_request` for an email that is none, another than the
 * invited one, or a member's already
 */
export function acceptInvitation(
  deps: InvitationLinkDeps,
  token: string,
  { email, name }: { readonly email?: string | undefined; readonly name: string },
): Promise<MemberJson> {
  return inTransaction(deps.db, async db => {
    const invitation = await lockInvitationByToken(db, hashToken(token))
    if (!invitation) throw noInvitation()
    const at = deps.clock.now()
    requireOpen(invitation, at)
    const reach = {
      role: 'member',
      brandIds: fromJson(invitation.brand_ids),
      permissions: parsePermissions(invitation.permissions),
    } as const
    const member = await addMember(
      db,
      { organizationId: invitation.organization_id, email: emailFor(invitation, email), name, access: reach },
      deps.clock,
    )
    await updateInvitation(db, invitation.organization_id, invitation.id, { accepted_at: at, member_id: member.id })
    return member
  })
}

/** The link alone is what is asked for, so what it says is not repeated. */
function noInvitation() {
  return refuse('not_found', { message: 'There is no invitation with this link.', isFailedAuthentication: true })
}

function emailFor(invitation: InvitationRow, given: string | undefined): string {
  const email = given === undefined ? undefined : parseInviteeEmail(given)
  if (invitation.email === null && email === undefined)
    throw refuse('invalid_request', { message: '`email` is required: the invitation names nobody.', param: 'email' })
  if (invitation.email !== null && email !== undefined && email !== invitation.email)
    throw refuse('invalid_request', {
      message: `The invitation is for another address than ${email}.`,
      param: 'email',
    })
  return invitation.email ?? email ?? ''
}
