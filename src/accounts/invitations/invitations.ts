import { createHash, randomBytes } from 'node:crypto'
import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { decodeCursor, encodeCursor, pageSize } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import { type Clock, fromIso, type Instant, plusMs, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { resolveBrandIds } from '../brands/brands.ts'
import { formatPermissions, type Permission } from '../keys/permissions.ts'
import { memberExistsRefusal } from '../members/members.ts'
import { canonicalEmail } from '../members/schema.ts'
import { selectMemberByEmail } from '../members/table.ts'
import { type CreatedInvitationJson, type InvitationJson, toJsonInvitation } from './schema.ts'
import {
  deleteInvitations,
  type InvitationCursor,
  type InvitationRow,
  insertInvitation,
  lockInvitation,
  selectOpenInvitations,
  updateInvitation,
} from './table.ts'

const dayMs = 24 * 60 * 60 * 1000
const openMs = 7 * dayMs
/** Whoever asks why a link works no more does so within a season; after that nobody needs to know whom it was for. */
const keptClosedMs = 90 * dayMs

/** What the work on invitations uses. */
export interface InvitationDeps {
  readonly db: Db
  readonly clock: Clock
  /** Where clients reach us, without a final slash. */
  readonly publicUrl: string
}

/**
 * Invites someone to brands, as a member. `link` is shown this once: only the SHA-256 of the 256 random bits in it is
 * kept. Whoever has the link may accept for 7 days, once; where `email` is given, as that address only.
 * @throws Refusal `invalid_request` for an email that is none or a member's already, `not_found` for a brand
 */
export async function createInvitation(
  deps: InvitationDeps,
  inviter: Pick<Caller, 'organizationId' | 'memberId'>,
  wanted: {
    readonly email?: string | undefined
    readonly brand_ids: readonly string[]
    readonly permissions: readonly Permission[]
  },
): Promise<CreatedInvitationJson> {
  const { organizationId } = inviter
  const email = wanted.email === undefined ? null : parseInviteeEmail(wanted.email)
  const brandIds = await resolveBrandIds(deps.db, organizationId, wanted.brand_ids, 'brand_ids')
  if (email !== null && (await selectMemberByEmail(deps.db, organizationId, email))) throw memberExistsRefusal(email)
  const token = randomBytes(32).toString('base64url')
  const at = deps.clock.now()
  const row: InvitationRow = {
    id: newId('inv'),
    organization_id: organizationId,
    email,
    brand_ids: toJson(brandIds),
    permissions: formatPermissions(wanted.permissions),
    invited_by: inviter.memberId,
    token_hash: hashToken(token),
    created_at: at,
    expires_at: plusMs(at, openMs),
    accepted_at: null,
    revoked_at: null,
    member_id: null,
  }
  await insertInvitation(deps.db, row)
  return { ...toJsonInvitation(row), link: `${deps.publicUrl}/invitations/${token}` }
}

/** What is kept of a link. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** @throws Refusal `invalid_request` that names `email` */
export function parseInviteeEmail(text: string): string {
  const email = canonicalEmail(text)
  if (email === undefined)
    throw refuse('invalid_request', {
      message: `\`email\` is ${JSON.stringify(text.slice(0, 80))}; expected a bare address such as name@example.com.`,
      param: 'email',
    })
  return email
}

/** Drops invitations that were closed long ago, at most `most`; says how many. For housekeeping. */
export async function deleteClosedInvitations(
  { db, clock }: Pick<InvitationDeps, 'db' | 'clock'>,
  most: number,
): Promise<number> {
  return await deleteInvitations(db, plusMs(clock.now(), -keptClosedMs), most)
}

/** A page of the organization's open invitations, oldest first. @throws Refusal `invalid_cursor` */
export async function listInvitations(
  deps: InvitationDeps,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  page: { readonly limit?: string | undefined; readonly cursor?: string | undefined },
): Promise<{ data: InvitationJson[]; next_cursor: string | null }> {
  const limit = pageSize(page.limit)
  const after = page.cursor === undefined ? undefined : readPlace(page.cursor)
  const rows = await selectOpenInvitations(deps.db, organizationId, deps.clock.now(), { after, limit: limit + 1 })
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { data: shown.map(toJsonInvitation), next_cursor: last ? encodeCursor(toIso(last.expires_at), last.id) : null }
}

function readPlace(cursor: string): InvitationCursor {
  const [end = '', id = ''] = decodeCursor(cursor, 2)
  const expires_at = fromIso(end)
  if (expires_at && isId('inv', id)) return { expires_at, id }
  throw refuse('invalid_cursor', { message: 'This is not a cursor of this list.', param: 'cursor' })
}

/** Changes what is given of an open invitation; its link stays. @throws Refusal `not_found`, `invitation_closed` */
export function changeInvitation(
  deps: InvitationDeps,
  tenant: Pick<Tenant, 'organizationId'>,
  id: string,
  change: {
    readonly brand_ids?: readonly string[] | undefined
    readonly permissions?: readonly Permission[] | undefined
  },
  reservation?: Reservation,
): Promise<InvitationJson> {
  return inTransaction(deps.db, async db => {
    const at = deps.clock.now()
    const invitation = await lockOpen(db, tenant, id, at)
    const changes = {
      ...(change.brand_ids && {
        brand_ids: toJson(await resolveBrandIds(db, tenant.organizationId, change.brand_ids, 'brand_ids')),
      }),
      ...(change.permissions && { permissions: formatPermissions(change.permissions) }),
    }
    await updateInvitation(db, tenant.organizationId, invitation.id, changes)
    const body = toJsonInvitation({ ...invitation, ...changes })
    await storeResponse(db, reservation, { status: 200, body, at })
    return body
  })
}

/** Ends an open invitation: nobody can accept it any more. @throws Refusal `not_found`, `invitation_closed` */
export function revokeInvitation(
  deps: InvitationDeps,
  tenant: Pick<Tenant, 'organizationId'>,
  id: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  return inTransaction(deps.db, async db => {
    const at = deps.clock.now()
    const invitation = await lockOpen(db, tenant, id, at)
    await updateInvitation(db, tenant.organizationId, invitation.id, { revoked_at: at })
    const body = { id: invitation.id, deleted: true as const }
    await storeResponse(db, reservation, { status: 200, body, at })
    return body
  })
}

async function lockOpen(
  db: Db,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  id: string,
  now: Instant,
): Promise<InvitationRow> {
  const invitation = isId('inv', id) ? await lockInvitation(db, organizationId, id) : undefined
  if (!invitation) throw refuse('not_found', { message: `There is no invitation ${id}.` })
  requireOpen(invitation, now)
  return invitation
}

/** @throws Refusal `invitation_closed` when it was accepted, revoked, or has expired */
export function requireOpen(invitation: InvitationRow, now: Instant): void {
  const ended = endOf(invitation, now)
  if (ended) throw refuse('invitation_closed', { message: `The invitation ${ended}.`, reason: ended })
}

function endOf({ accepted_at, revoked_at, expires_at }: InvitationRow, now: Instant): string | undefined {
  if (accepted_at !== null) return 'was accepted'
  if (revoked_at !== null) return 'was revoked'
  return expires_at <= now ? 'has expired' : undefined
}
