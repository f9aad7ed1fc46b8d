import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { applyChange, ifUpdatedAtRefusals, lastUpdatedAt, requireUnchanged } from '../../api/if-updated-at.ts'
import { cutPage, decodeCursor, invalidCursor, pageSize } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import { type Clock, dayMs, fromIso, type Instant, plusMs, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { newToken } from '../../base/secrets/token.ts'
import { type AuditedCaller, recordCallerEntry } from '../audit/audit.ts'
import { brandRefusals, resolveBrandIds } from '../brands/brands.ts'
import { formatPermissions, type Permission } from '../keys/permissions.ts'
import { memberExistsRefusal } from '../members/members.ts'
import { type AccessChange, canonicalEmail } from '../members/schema.ts'
import { selectMemberByEmail } from '../members/table.ts'
import { type CreatedInvitationJson, type InvitationJson, toJsonInvitation } from './schema.ts'
import {
  deleteInvitations,
  type InvitationCursor,
  type InvitationRow,
  insertInvitation,
  lockInvitation,
  selectInvitation,
  selectOpenInvitations,
  updateInvitation,
} from './table.ts'

const openMs = 7 * dayMs
/** How long a closed invitation is kept, so that someone with an old link learns why it no longer works. */
const keepClosedMs = 90 * dayMs

export interface InvitationDeps {
  readonly db: Db
  readonly clock: Clock
  /** The public base URL, without a trailing slash. */
  readonly publicUrl: string
}

/** The refusals of {@link createInvitation}. */
export const createInvitationRefusals = [...brandRefusals] as const

/**
 * Invites someone to become a member with access to these brands. `link` is returned only here: only the SHA-256 of the
 * 256 random bits in it is stored. Anyone with the link may accept it, once, within 7 days; with `email` only as that address.
 * @throws Refusal `invalid_request` for an email that is malformed or already a member's, `not_found` for a brand
 */
export async function createInvitation(
  deps: InvitationDeps,
  inviter: Pick<Caller, 'organizationId' | 'memberId'> & AuditedCaller,
  invitation: {
    readonly email?: string | undefined
    readonly brand_ids: readonly string[]
    readonly permissions: readonly Permission[]
  },
): Promise<CreatedInvitationJson> {
  const { organizationId } = inviter
  const email = invitation.email === undefined ? null : parseInviteeEmail(invitation.email)
  const brandIds = await resolveBrandIds(deps.db, organizationId, invitation.brand_ids, 'brand_ids')
  if (email !== null && (await selectMemberByEmail(deps.db, organizationId, email))) throw memberExistsRefusal(email)
  const { token, hash } = newToken()
  const at = deps.clock.now()
  const row: InvitationRow = {
    id: newId('inv'),
    organization_id: organizationId,
    email,
    brand_ids: toJson(brandIds),
    permissions: formatPermissions(invitation.permissions),
    invited_by: inviter.memberId,
    token_hash: hash,
    created_at: at,
    expires_at: plusMs(at, openMs),
    accepted_at: null,
    revoked_at: null,
    member_id: null,
    updated_at: null,
  }
  await inTransaction(deps.db, async db => {
    await insertInvitation(db, row)
    const detail = { email, brand_ids: brandIds, permissions: invitation.permissions }
    await recordCallerEntry(db, inviter, deps.clock, { action: 'invitation.create', subject: row.id, detail })
  })
  return { ...toJsonInvitation(row), link: `${deps.publicUrl}/invitations/${token}` }
}

/** The address in canonical form. @throws Refusal `invalid_request` with the parameter `email` */
export function parseInviteeEmail(text: string): string {
  const email = canonicalEmail(text)
  if (email === undefined)
    throw refuse('invalid_request', {
      message: `\`email\` is ${JSON.stringify(text.slice(0, 80))}; expected a bare address such as name@example.com.`,
      param: 'email',
    })
  return email
}

/** Deletes up to `most` invitations that expired more than 90 days ago; resolves to how many. For retention. */
export async function deleteClosedInvitations(
  { db, clock }: Pick<InvitationDeps, 'db' | 'clock'>,
  most: number,
): Promise<number> {
  return await deleteInvitations(db, plusMs(clock.now(), -keepClosedMs), most)
}

/** A page of the organization's open invitations, oldest first. @throws Refusal `invalid_cursor` */
export async function listInvitations(
  deps: InvitationDeps,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  query: { readonly limit?: string | undefined; readonly cursor?: string | undefined },
): Promise<{ data: InvitationJson[]; next_cursor: string | null }> {
  const limit = pageSize(query.limit)
  const after = query.cursor === undefined ? undefined : parseInvitationCursor(query.cursor)
  const rows = await selectOpenInvitations(deps.db, organizationId, deps.clock.now(), { after, limit: limit + 1 })
  const { page, next_cursor } = cutPage(rows, limit, last => [toIso(last.expires_at), last.id])
  return { data: page.map(toJsonInvitation), next_cursor }
}

function parseInvitationCursor(cursor: string): InvitationCursor {
  const [end = '', id = ''] = decodeCursor(cursor, 2)
  const expires_at = fromIso(end)
  if (expires_at && isId('inv', id)) return { expires_at, id }
  throw invalidCursor(cursor)
}

/** @throws Refusal `not_found`, `invitation_closed` */
export async function getInvitation(
  deps: Pick<InvitationDeps, 'db' | 'clock'>,
  tenant: Pick<Tenant, 'organizationId'>,
  id: string,
): Promise<InvitationJson> {
  return toJsonInvitation(await loadOpen(deps.db, tenant, id, { now: deps.clock.now(), select: selectInvitation }))
}

/** The refusals of {@link changeInvitation}. */
export const changeInvitationRefusals = [
  'not_found',
  'invitation_closed',
  ...brandRefusals,
  ...ifUpdatedAtRefusals,
] as const

/**
 * Changes the given fields of an open invitation; its link stays valid.
 * @throws Refusal `not_found`, `invitation_closed`, `changed_since_read`
 */
export function changeInvitation(
  deps: InvitationDeps,
  caller: AuditedCaller,
  id: string,
  { if_updated_at, ...access }: AccessChange,
  reservation?: Reservation,
): Promise<InvitationJson> {
  return inTransaction(deps.db, async db => {
    const now = deps.clock.now()
    const invitation = await loadOpen(db, caller, id, { now, select: lockInvitation })
    requireUnchanged('The invitation', { updated_at: lastUpdatedAt(invitation) }, { if_updated_at })
    const changes = {
      ...(access.brand_ids && {
        brand_ids: toJson(await resolveBrandIds(db, caller.organizationId, access.brand_ids, 'brand_ids')),
      }),
      ...(access.permissions && { permissions: formatPermissions(access.permissions) }),
    }
    const changed = applyChange(invitation, changes, now, toJsonInvitation)
    if (changed !== invitation) {
      const { updated_at } = changed
      await updateInvitation(db, caller.organizationId, invitation.id, { ...changes, updated_at })
      const detail = { email: invitation.email, ...access }
      await recordCallerEntry(db, caller, deps.clock, { action: 'invitation.change', subject: invitation.id, detail })
    }
    const body = toJsonInvitation(changed)
    await storeResponse(db, reservation, { status: 200, body })
    return body
  })
}

/** Revokes an open invitation: its link can no longer be accepted. @throws Refusal `not_found`, `invitation_closed` */
export function revokeInvitation(
  deps: InvitationDeps,
  caller: AuditedCaller,
  id: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  return inTransaction(deps.db, async db => {
    const at = deps.clock.now()
    const invitation = await loadOpen(db, caller, id, { now: at, select: lockInvitation })
    await updateInvitation(db, caller.organizationId, invitation.id, { revoked_at: at })
    const entry = { action: 'invitation.revoke', subject: invitation.id, detail: { email: invitation.email } }
    await recordCallerEntry(db, caller, deps.clock, entry)
    const body = { id: invitation.id, deleted: true as const }
    await storeResponse(db, reservation, { status: 200, body })
    return body
  })
}

async function loadOpen(
  db: Db,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  id: string,
  { now, select }: { readonly now: Instant; readonly select: typeof selectInvitation },
): Promise<InvitationRow> {
  const invitation = isId('inv', id) ? await select(db, organizationId, id) : undefined
  if (!invitation) throw refuse('not_found', { message: `There is no invitation ${id}.` })
  requireOpen(invitation, now)
  return invitation
}

/** The refusals of every operation on one invitation. */
export const openInvitationRefusals = ['not_found', 'invitation_closed'] as const

/** @throws Refusal `invitation_closed` when the invitation was accepted or revoked, or has expired */
export function requireOpen(invitation: InvitationRow, now: Instant): void {
  const reason = closedReason(invitation, now)
  if (reason) throw refuse('invitation_closed', { message: `The invitation ${reason}.`, reason })
}

function closedReason({ accepted_at, revoked_at, expires_at }: InvitationRow, now: Instant): string | undefined {
  if (accepted_at !== null) return 'was accepted'
  if (revoked_at !== null) return 'was revoked'
  return expires_at <= now ? 'has expired' : undefined
}
