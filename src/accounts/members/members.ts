import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import {
  type ConditionalChange,
  ifUpdatedAtRefusals,
  lastUpdatedAt,
  nextUpdatedAt,
  requireUnchanged,
} from '../../api/if-updated-at.ts'
import { cutPage, pageSize, readIdCursor } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction, isDuplicate } from '../../base/database/database.ts'
import type { Role } from '../../base/database/schema.ts'
import { type Id, isId, newId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type AuditedCaller, recordCallerEntry } from '../audit/audit.ts'
import { resolveBrandIds } from '../brands/brands.ts'
import { formatPermissions, type Permission, parsePermissions, permissions } from '../keys/permissions.ts'
import { updateMemberKeysRevoked } from '../keys/table.ts'
import { type AccessChange, type MemberJson, toJsonMember } from './schema.ts'
import {
  deleteMember,
  insertMember,
  lockMemberAndOwners,
  type MemberRow,
  replaceMemberBrands,
  selectAnyMember,
  selectMember,
  selectMemberBrands,
  selectMembers,
  updateMember,
} from './table.ts'

export interface MemberDeps {
  readonly db: Db
  readonly clock: Clock
}

/** The organization, and the role of whoever acts in it. The operator's command line acts as owner. */
export type ActingRole = Pick<Caller, 'organizationId' | 'role'> & AuditedCaller

/** What a member may do: an owner or admin everything, a `member` these permissions in these brands. */
export type MemberAccess =
  | { readonly role: 'owner' | 'admin' }
  | { readonly role: 'member'; readonly brandIds: readonly string[]; readonly permissions: readonly Permission[] }

export interface NewMember {
  readonly organizationId: Id<'org'>
  /** In the form of {@link canonicalEmail}. */
  readonly email: string
  readonly name: string
  readonly access: MemberAccess
}

/** A page of the organization's members, in the order in which they joined. @throws Refusal `invalid_cursor` */
export async function listMembers(
  deps: Pick<MemberDeps, 'db'>,
  tenant: Pick<Tenant, 'organizationId'>,
  query: { readonly limit?: string | undefined; readonly cursor?: string | undefined },
): Promise<{ data: MemberJson[]; next_cursor: string | null }> {
  const limit = pageSize(query.limit)
  const after = readIdCursor('mem', query.cursor) ?? undefined
  const rows = await selectMembers(deps.db, tenant.organizationId, { after, limit: limit + 1 })
  const { page, next_cursor } = cutPage(rows, limit, ({ id }) => [id])
  return { data: await toJsonMembers(deps.db, page), next_cursor }
}

async function toJsonMembers(db: Db, rows: readonly MemberRow[]): Promise<MemberJson[]> {
  const ids = rows.map(row => row.id)
  const brands = await selectMemberBrands(db, ids)
  return rows.map(row => toJsonMember(row, brands.get(row.id) ?? []))
}

/** The refusals of {@link getMember}. */
export const memberRefusals = ['not_found'] as const

/** @throws Refusal `not_found` */
export async function getMember(
  { db }: Pick<MemberDeps, 'db'>,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  id: string,
): Promise<MemberJson> {
  return readMember(db, organizationId, id)
}

/** Who a member is, and what they may do. */
export interface FoundMember {
  readonly organizationId: Id<'org'>
  readonly email: string
  /** An owner or admin has all. */
  readonly permissions: ReadonlySet<string>
}

/** The member with this id in any organization: for the operator. */
export async function findMember(db: Db, id: Id<'mem'>): Promise<FoundMember | undefined> {
  const row = await selectAnyMember(db, id)
  if (!row) return undefined
  const granted = row.role === 'member' ? parsePermissions(row.permissions) : permissions
  return { organizationId: row.organization_id, email: row.email, permissions: new Set(granted) }
}

/**
 * Inserts a member, in the caller's transaction.
 * @throws Refusal `invalid_request` when the organization already has a member with this email, `not_found` for a brand
 */
export async function addMember(db: Db, { organizationId, email, name, access }: NewMember, clock: Clock) {
  const row: MemberRow = {
    id: newId('mem'),
    organization_id: organizationId,
    email,
    name,
    role: access.role,
    permissions: permissionsOf(access),
    created_at: clock.now(),
    last_active_at: null,
    user_id: null,
    updated_at: null,
  }
  try {
    await insertMember(db, row)
  } catch (error) {
    if (isDuplicate(error, 'members_email')) throw memberExistsRefusal(email)
    throw error
  }
  return { ...toJsonMember(row, await setBrands(db, row, brandsOf(access))), id: row.id }
}

/** The refusal of an email that is already a member's. */
export function memberExistsRefusal(email: string) {
  return refuse('invalid_request', { message: `${email} is already a member of the organization.`, param: 'email' })
}

function permissionsOf(reach: MemberAccess): string {
  return reach.role === 'member' ? formatPermissions(reach.permissions) : ''
}

function brandsOf(reach: MemberAccess): readonly string[] {
  return reach.role === 'member' ? reach.brandIds : []
}

async function setBrands(
  db: Db,
  row: Pick<MemberRow, 'id' | 'organization_id'>,
  ids: readonly string[],
): Promise<readonly Id<'brd'>[]> {
  const brandIds = await resolveBrandIds(db, row.organization_id, ids, 'brand_ids')
  await replaceMemberBrands(db, row.id, brandIds)
  return brandIds
}

/** The refusals of {@link changeMember}. */
export const changeMemberRefusals = ['not_found', 'role_fixed', ...ifUpdatedAtRefusals] as const

/**
 * Changes the given brands and permissions of a member; it applies to their keys at once.
 * @throws Refusal `not_found`, `role_fixed` for an owner or admin, `changed_since_read`
 */
export function changeMember(
  deps: MemberDeps,
  actor: ActingRole,
  id: string,
  { if_updated_at, ...access }: AccessChange,
  reservation?: Reservation,
): Promise<MemberJson> {
  return inTransaction(deps.db, async db => {
    const { member } = await lockMember(db, actor.organizationId, id)
    if (member.role !== 'member')
      throw refuse('role_fixed', {
        message: `${id} is ${withArticle(member.role)} and has all brands and permissions.`,
      })
    const granted = access.permissions ? formatPermissions(access.permissions) : member.permissions
    const requested = { role: member.role, permissions: granted, brandIds: access.brand_ids }
    if (await applyAccess(db, deps.clock, member, requested, { if_updated_at })) {
      const detail = { email: member.email, ...access }
      await recordCallerEntry(db, actor, deps.clock, { action: 'member.change', subject: member.id, detail })
    }
    const body = await readMember(db, actor.organizationId, member.id)
    await storeResponse(db, reservation, { status: 200, body })
    return body
  })
}

/**
 * Gives a locked member this access; without `brandIds` they keep their brands. False: they have it already.
 * @throws Refusal `changed_since_read`, `invalid_request`, `not_found` for a brand
 */
async function applyAccess(
  db: Db,
  clock: Clock,
  member: MemberRow,
  requested: Pick<MemberRow, 'role' | 'permissions'> & { readonly brandIds: readonly string[] | undefined },
  condition: ConditionalChange,
): Promise<boolean> {
  requireUnchanged(`What ${member.name} may do`, { updated_at: lastUpdatedAt(member) }, condition)
  const before = (await selectMemberBrands(db, [member.id])).get(member.id) ?? []
  const after = requested.brandIds ? await setBrands(db, member, requested.brandIds) : before
  const { role, permissions } = requested
  if (isDeepStrictEqual([role, permissions, after], [member.role, member.permissions, before])) return false
  const updated_at = nextUpdatedAt(lastUpdatedAt(member), clock.now())
  await updateMember(db, member.organization_id, member.id, { role, permissions, updated_at })
  return true
}

/** The refusals of {@link changeRole}. */
export const changeRoleRefusals = ['not_found', 'role_not_allowed', 'last_owner', ...ifUpdatedAtRefusals] as const

/**
 * Makes a member an owner, an admin, or a `member` with these brands and permissions.
 * @throws Refusal `not_found`, `role_not_allowed` unless an owner does it, `last_owner` when the organization would be left
 * without an owner, `changed_since_read`
 */
export function changeRole(
  deps: MemberDeps,
  actor: ActingRole,
  id: string,
  access: MemberAccess,
  condition: ConditionalChange = {},
): Promise<MemberJson> {
  if (actor.role !== 'owner')
    throw refuse('role_not_allowed', { message: 'Only an owner can change the role of a member.' })
  return inTransaction(deps.db, async db => {
    const { member, owners } = await lockMember(db, actor.organizationId, id)
    if (access.role !== 'owner') requireOtherOwner(member, owners)
    const requested = { role: access.role, permissions: permissionsOf(access), brandIds: brandsOf(access) }
    if (await applyAccess(db, deps.clock, member, requested, condition)) {
      const detail = { email: member.email, before: member.role, ...access }
      await recordCallerEntry(db, actor, deps.clock, { action: 'member.role', subject: member.id, detail })
    }
    return readMember(db, actor.organizationId, member.id)
  })
}

/** The refusals of {@link removeMember}. */
export const removeMemberRefusals = ['not_found', 'role_not_allowed', 'last_owner'] as const

/**
 * Removes a member and revokes their keys. Keys of the organization that they created keep working.
 * @throws Refusal `not_found`, `role_not_allowed` unless an owner removes an owner or admin, `last_owner`
 */
export function removeMember(
  deps: MemberDeps,
  actor: ActingRole,
  id: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  return inTransaction(deps.db, async db => {
    const { member, owners } = await lockMember(db, actor.organizationId, id)
    if (member.role !== 'member' && actor.role !== 'owner')
      throw refuse('role_not_allowed', {
        message: `${id} is ${withArticle(member.role)}; only an owner, or a key that an owner created, can remove them.`,
      })
    requireOtherOwner(member, owners)
    const at = deps.clock.now()
    await updateMemberKeysRevoked(db, actor.organizationId, member.id, at)
    await deleteMember(db, actor.organizationId, member.id)
    const detail = { email: member.email, role: member.role }
    await recordCallerEntry(db, actor, deps.clock, { action: 'member.remove', subject: member.id, detail })
    const body = { id: member.id, deleted: true as const }
    await storeResponse(db, reservation, { status: 200, body })
    return body
  })
}

interface LockedMember {
  readonly member: MemberRow
  readonly owners: readonly MemberRow[]
}

async function lockMember(db: Db, organizationId: Id<'org'>, id: string): Promise<LockedMember> {
  const rows = isId('mem', id) ? await lockMemberAndOwners(db, organizationId, id) : []
  const member = rows.find(row => row.id === id)
  if (!member) throw noMember(id)
  return { member, owners: rows.filter(row => row.role === 'owner') }
}

function noMember(id: string) {
  return refuse('not_found', { message: `There is no member ${id}.` })
}

function requireOtherOwner(member: MemberRow, owners: readonly MemberRow[]): void {
  if (member.role === 'owner' && owners.length === 1)
    throw refuse('last_owner', { message: `${member.id} is the only owner of the organization.` })
}

async function readMember(db: Db, organizationId: Id<'org'>, id: string): Promise<MemberJson> {
  const row = isId('mem', id) ? await selectMember(db, organizationId, id) : undefined
  if (!row) throw noMember(id)
  const [json] = await toJsonMembers(db, [row])
  if (!json) throw noMember(id)
  return json
}

function withArticle(role: Role): string {
  return role === 'member' ? 'a member' : `an ${role}`
}
