import type { AccessDenial } from '../../api/caller.ts'
import { scopes as allScopes } from '../../api/scope.ts'
import type { Session, SessionMember } from '../../api/session/session.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { loadBrand } from '../brands/brands.ts'
import { parsePermissions } from '../keys/permissions.ts'
import { type MembershipRow, selectMemberBrands, selectMemberships } from '../members/table.ts'

/** What a request says of where its person acts. */
export interface MembershipRequest {
  /** The id of an organization; undefined: it names none. */
  readonly organization: string | undefined
  /** The id of a brand; undefined: it names none. */
  readonly brand: string | undefined
  /** The client's address, for the audit log. */
  readonly ip: string
}

/** A membership, and when its person was last active in it, as far as is written. */
export interface FoundMembership {
  readonly member: SessionMember
  readonly lastActiveAt: Instant | null
}

/**
 * The member that the person is in the organization that the request names, or in their only one, narrowed to the brand that
 * it names. A `member` acts in one brand: the one that is named, else their first.
 * @throws Refusal `organization_required`, `not_found` (also for an organization that is not theirs), `brand_restricted`
 */
export async function findMembership(
  db: Db,
  { userId, email }: Pick<Session, 'userId' | 'email'>,
  { organization, brand, ip }: MembershipRequest,
): Promise<FoundMembership> {
  const row = await selectMembership(db, userId, organization)
  const access = await resolveAccess(db, row, brand)
  const { organization_id: organizationId, id: memberId, role } = row
  const member = { keyId: null, person: { email, ip }, organizationId, memberId, role, ...access }
  return { member, lastActiveAt: row.last_active_at }
}

async function selectMembership(db: Db, userId: Id<'usr'>, organization: string | undefined): Promise<MembershipRow> {
  if (organization === undefined) return onlyMembership(await selectMemberships(db, userId))
  const [row] = isId('org', organization) ? await selectMemberships(db, userId, organization) : []
  if (!row) throw refuse('not_found', { message: `There is no organization ${organization}.` })
  return row
}

function onlyMembership(rows: readonly MembershipRow[]): MembershipRow {
  const [row, another] = rows
  if (row && !another) return row
  throw refuse('organization_required', {
    message: row
      ? 'You are a member of several organizations: name one in the header Mailroom-Organization.'
      : 'You are not a member of any organization.',
  })
}

type Access = Pick<SessionMember, 'brandId' | 'brandIds' | 'scopes' | 'hasApiAccess' | 'denial'>

async function resolveAccess(db: Db, row: MembershipRow, brand: string | undefined): Promise<Access> {
  if (row.role !== 'member') {
    const tenant = { organizationId: row.organization_id, brandId: null }
    const brandId = brand === undefined ? null : (await loadBrand(db, tenant, brand)).id
    return { brandId, brandIds: null, scopes: new Set(allScopes), hasApiAccess: true, denial: null }
  }
  const brandIds = (await selectMemberBrands(db, [row.id])).get(row.id) ?? []
  const permissions = parsePermissions(row.permissions)
  return {
    brandId: ownBrand(brandIds, brand),
    brandIds,
    scopes: new Set(brandIds.length === 0 ? [] : permissions.filter(permission => permission !== 'api_access')),
    hasApiAccess: permissions.includes('api_access'),
    denial: brandIds.length === 0 ? noBrandDenial : null,
  }
}

const noBrandDenial: AccessDenial = {
  code: 'brand_restricted',
  message: 'You no longer have access to any brand of this organization; ask one of its owners.',
}

/** null: they have no brand, and their access is denied as a whole. */
function ownBrand(brandIds: readonly Id<'brd'>[], brand: string | undefined): Id<'brd'> | null {
  if (brand === undefined) return brandIds[0] ?? null
  const own = brandIds.find(id => id === brand)
  if (own === undefined && brandIds.length > 0)
    throw refuse('brand_restricted', { message: `You have no access to the brand ${brand}.` })
  return own ?? null
}
