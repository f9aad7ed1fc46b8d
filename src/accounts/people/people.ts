import type { ConditionalChange } from '../../api/if-updated-at.ts'
import { cutPage, pageSize, readIdCursor } from '../../api/page.ts'
import type { SessionMember } from '../../api/session/session.ts'
import { type Clock, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Role } from '../../base/database/schema.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { recordCallerEntry } from '../audit/audit.ts'
import { type Permission, permissions } from '../keys/permissions.ts'
import { countLiveKeys } from '../keys/table.ts'
import { requireManager } from '../members/manager.ts'
import { changeRole, type MemberAccess } from '../members/members.ts'
import { type MemberJson, toJsonMember } from '../members/schema.ts'
import { selectMember, selectMemberBrands, selectMembers } from '../members/table.ts'
import { idleMs } from '../sessions/authenticate.ts'
import { type PersonJson, toJsonFactors } from './schema.ts'
import { deleteSessionsOfUser, selectFactors } from './table.ts'

export interface PeopleDeps {
  readonly db: Db
  readonly clock: Clock
}

/**
 * A page of the organization's members with how they sign in, in the order in which they joined.
 * @throws Refusal `role_not_allowed`, `invalid_cursor`
 */
export async function listPeople(
  { db, clock }: PeopleDeps,
  actor: SessionMember,
  query: { readonly limit?: string; readonly cursor?: string },
): Promise<{ data: PersonJson[]; next_cursor: string | null }> {
  requireManager(actor)
  const limit = pageSize(query.limit)
  const after = readIdCursor('mem', query.cursor) ?? undefined
  const rows = await selectMembers(db, actor.organizationId, { after, limit: limit + 1 })
  const { page, next_cursor } = cutPage(rows, limit, ({ id }) => [id])
  const memberIds = page.map(row => row.id)
  const userIds = page.flatMap(row => row.user_id ?? [])
  const now = clock.now()
  const [brands, keys, factors] = await Promise.all([
    selectMemberBrands(db, memberIds),
    countLiveKeys(db, actor.organizationId, memberIds, now),
    selectFactors(db, userIds, { now, usedAfter: plusMs(now, -idleMs) }),
  ])
  return {
    data: page.map(row => ({
      ...toJsonMember(row, brands.get(row.id) ?? []),
      live_keys: keys.get(row.id) ?? 0,
      factors: toJsonFactors(row.user_id === null ? undefined : factors.get(row.user_id)),
    })),
    next_cursor,
  }
}

/**
 * Ends all sessions of a member, in every browser, from their next request on.
 * @throws Refusal `role_not_allowed`, `not_found`
 */
export function endSessions(
  { db, clock }: PeopleDeps,
  actor: SessionMember,
  id: string,
): Promise<{ id: string; ended: number }> {
  requireManager(actor)
  return inTransaction(db, async tx => {
    const member = isId('mem', id) ? await selectMember(tx, actor.organizationId, id) : undefined
    if (!member) throw refuse('not_found', { message: `There is no member ${id}.` })
    const ended = member.user_id === null ? 0 : await deleteSessionsOfUser(tx, member.user_id)
    const detail = { email: member.email, ended }
    await recordCallerEntry(tx, actor, clock, { action: 'member.end-sessions', subject: member.id, detail })
    return { id: member.id, ended }
  })
}

/** A role, and what limits a `member`. */
export interface NewRole extends ConditionalChange {
  readonly role: Role
  readonly brand_ids?: readonly string[] | undefined
  readonly permissions?: readonly Permission[] | undefined
}

/**
 * Changes a member's role: for owners alone. A new `member` may do everything in their brands, unless permissions are given.
 * @throws Refusal `invalid_request`, `role_not_allowed`, `not_found`, `last_owner`, `changed_since_read`
 */
export async function changePersonRole(
  deps: PeopleDeps,
  actor: SessionMember,
  id: string,
  newRole: NewRole,
): Promise<MemberJson> {
  return changeRole(deps, actor, id, readAccess(newRole), newRole)
}

function readAccess({ role, brand_ids: brandIds, permissions: granted }: NewRole): MemberAccess {
  if (role === 'member') {
    if (brandIds) return { role, brandIds, permissions: granted ?? permissions }
    throw refuse('invalid_request', {
      message: '`brand_ids` is required: a member has at least one brand.',
      param: 'brand_ids',
    })
  }
  const param = brandIds ? 'brand_ids' : granted ? 'permissions' : undefined
  if (param === undefined) return { role }
  throw refuse('invalid_request', {
    message: `\`${param}\` is for the role member: an ${role} has all of them.`,
    param,
  })
}
