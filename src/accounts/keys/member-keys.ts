import type { Scope } from '../../api/scope.ts'
import { type Clock, type Instant, toIso } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type AuditedCaller, recordCallerEntry } from '../audit/audit.ts'
import { loadBrand } from '../brands/brands.ts'
import { type MemberRow, selectMember, selectMemberBrands, selectOwnerEmails } from '../members/table.ts'
import { type CreatedKey, createKey } from './keys.ts'
import { parsePermissions } from './permissions.ts'
import { updateKeyRevokedInOrganization } from './table.ts'

/** The member who makes the request, in their organization. */
export interface ActingMember extends AuditedCaller {
  readonly memberId: Id<'mem'>
}

export interface MemberKeyRequest {
  readonly brandId: Id<'brd'> | null
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: Instant | null
}

/**
 * Creates a key on behalf of this member. A key made by an owner or admin belongs to the organization and outlives them. A
 * key made by a member with API access is their own: restricted to one of their brands and to their permissions.
 * @throws Refusal `not_found`, `insufficient_scope`, `brand_restricted`, and what {@link createKey} throws
 */
export function createKeyAsMember(
  db: Db,
  actor: ActingMember,
  request: MemberKeyRequest,
  clock: Clock,
): Promise<CreatedKey> {
  return inTransaction(db, async tx => {
    const { organizationId, memberId: makerId } = actor
    const member = await requireMember(tx, actor)
    if (request.brandId !== null) await loadBrand(tx, { organizationId, brandId: null }, request.brandId, 'brand_id')
    if (member.role === 'member') {
      await requirePermissions(tx, member, request.scopes)
      await requireOwnBrand(tx, member, request.brandId)
    }
    const ownerId = member.role === 'member' ? { memberId: makerId } : {}
    const created = await createKey(tx, { ...request, organizationId, makerId, ...ownerId }, clock)
    const { name, scopes, brandId, expiresAt } = request
    const detail = { name, scopes, brand_id: brandId, expires_at: expiresAt && toIso(expiresAt) }
    await recordCallerEntry(tx, actor, clock, { action: 'key.create', subject: created.id, detail })
    return created
  })
}

/**
 * Revokes a key on behalf of this member, from its next request on: an owner or admin any key of the organization, a
 * member only their own.
 * @throws Refusal `not_found`
 */
export function revokeKeyAsMember(db: Db, actor: ActingMember, id: string, clock: Clock): Promise<void> {
  return inTransaction(db, async tx => {
    const member = await requireMember(tx, actor)
    const onlyOf = member.role === 'member' ? member.id : null
    const isRevoked =
      isId('key', id) && (await updateKeyRevokedInOrganization(tx, actor.organizationId, onlyOf, id, clock.now()))
    if (!isRevoked) throw refuse('not_found', { message: `There is no key ${id}.` })
    await recordCallerEntry(tx, actor, clock, { action: 'key.revoke', subject: id })
  })
}

async function requireMember(db: Db, { organizationId, memberId }: ActingMember): Promise<MemberRow> {
  const member = await selectMember(db, organizationId, memberId)
  if (!member) throw refuse('not_found', { message: `There is no member ${memberId}.` })
  return member
}

async function requirePermissions(db: Db, member: MemberRow, scopes: readonly Scope[]): Promise<void> {
  const granted: ReadonlySet<string> = new Set(parsePermissions(member.permissions))
  if (!granted.has('api_access')) throw await refuseApiAccess(db, member)
  const at = scopes.findIndex(scope => !granted.has(scope))
  if (at !== -1)
    throw refuse('insufficient_scope', {
      message: `The member ${member.id} lacks the permission ${scopes[at]}.`,
      param: `scopes[${at}]`,
      ...(scopes[at] && { reason: scopes[at] }),
    })
}

/** How many owners a refusal names. */
const maxNamedOwners = 5

/** Names the owners, who can grant it. */
async function refuseApiAccess(db: Db, member: MemberRow) {
  const owners = await selectOwnerEmails(db, member.organization_id, maxNamedOwners)
  return refuse('insufficient_scope', {
    message: `${member.email} has no API access; ask an owner: ${owners.join(', ')}.`,
    reason: 'api_access',
  })
}

async function requireOwnBrand(db: Db, member: MemberRow, brandId: Id<'brd'> | null): Promise<void> {
  const own = (await selectMemberBrands(db, [member.id])).get(member.id) ?? []
  if (brandId === null || !own.includes(brandId))
    throw refuse('brand_restricted', {
      message: `A key of the member ${member.id} is restricted to one of their brands: ${own.join(', ') || 'they have none'}.`,
      param: 'brand_id',
    })
}
