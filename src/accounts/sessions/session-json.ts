import type { Session } from '../../api/session/session.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { selectBrandsOfOrganizations } from '../brands/table.ts'
import { parsePermissions, permissions } from '../keys/permissions.ts'
import { type MembershipRow, selectMemberBrands, selectMemberships } from '../members/table.ts'
import { findSession } from './authenticate.ts'
import type { SessionJson } from './schema.ts'

type Brand = SessionJson['organizations'][number]['brands'][number]

interface JsonDeps {
  readonly db: Db
  readonly clock: Clock
}

/** Who is signed in, with the organizations and brands that they may use. */
export async function toJsonSession(
  { db }: Pick<JsonDeps, 'db'>,
  session: Session,
  isLocalhost: boolean,
): Promise<SessionJson> {
  const memberships = await selectMemberships(db, session.userId)
  const brands = await brandsOf(db, memberships)
  return {
    user: { id: session.userId, email: session.email, name: session.name },
    is_operator: session.isOperator,
    needs_factor: session.needsFactor,
    is_confirmed: session.isConfirmed,
    is_localhost: isLocalhost,
    organizations: memberships.map(row => toJsonOrganization(row, brands.get(row.id) ?? [])),
  }
}

/** The same of a session that began or changed in this request. */
export async function toJsonIssuedSession(
  { db, clock }: JsonDeps,
  id: Id<'ses'>,
  isLocalhost: boolean,
): Promise<SessionJson> {
  const session = await findSession(db, id, { now: clock.now(), isLocalhost })
  if (!session) throw new Error(`the session ${id}, which has just begun, is gone`)
  return toJsonSession({ db }, session, isLocalhost)
}

function toJsonOrganization(row: MembershipRow, brands: readonly Brand[]): SessionJson['organizations'][number] {
  const granted = row.role === 'member' ? parsePermissions(row.permissions) : permissions
  return {
    id: row.organization_id,
    name: row.organization_name,
    plan: row.plan,
    role: row.role,
    member_id: row.id,
    permissions: [...granted],
    has_api_access: granted.includes('api_access'),
    brands: [...brands],
  }
}

/** By membership: all brands of the organization for an owner or admin, otherwise those granted. */
async function brandsOf(
  db: Db,
  memberships: readonly MembershipRow[],
): Promise<ReadonlyMap<Id<'mem'>, readonly Brand[]>> {
  const limited = memberships.filter(({ role }) => role === 'member')
  const [rows, granted] = await Promise.all([
    selectBrandsOfOrganizations(
      db,
      memberships.map(row => row.organization_id),
    ),
    selectMemberBrands(
      db,
      limited.map(({ id }) => id),
    ),
  ])
  const byOrganization = Map.groupBy(rows, row => row.organization_id)
  return new Map(
    memberships.map(({ id, organization_id, role }) => {
      const own = granted.get(id) ?? []
      const usable = (byOrganization.get(organization_id) ?? []).filter(
        row => role !== 'member' || own.includes(row.id),
      )
      return [id, usable.map(row => ({ id: row.id, name: row.name, slug: row.slug }))]
    }),
  )
}
