import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type MemberRow = DatabaseSchema['members']

const memberColumns = [
  'id',
  'organization_id',
  'email',
  'name',
  'role',
  'permissions',
  'created_at',
  'last_active_at',
  'user_id',
  'updated_at',
] as const

export async function insertMember(db: Db, row: MemberRow): Promise<void> {
  await db.insertInto('members').values(row).execute()
}

/** The organization's members after the member `after`, in the order in which they joined: a range of one index. */
export async function selectMembers(
  db: Db,
  organizationId: Id<'org'>,
  { after, limit }: { readonly after: Id<'mem'> | undefined; readonly limit: number },
): Promise<MemberRow[]> {
  const from = after === undefined ? sql`` : sql`AND id > ${after}`
  // Forced: left to choose, both servers sort all members of the organization.
  const { rows } = await sql<MemberRow>`SELECT ${sql.raw(memberColumns.join(', '))}
    FROM members FORCE INDEX (members_organization)
    WHERE organization_id = ${organizationId} ${from} ORDER BY id LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

export function selectMember(db: Db, organizationId: Id<'org'>, id: Id<'mem'>): Promise<MemberRow | undefined> {
  return db
    .selectFrom('members')
    .select(memberColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function selectMemberByEmail(db: Db, organizationId: Id<'org'>, email: string): Promise<MemberRow | undefined> {
  return db
    .selectFrom('members')
    .select(memberColumns)
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .executeTakeFirst()
}

/** The addresses of the organization's owners, at most `limit`, the first who joined first. */
export async function selectOwnerEmails(db: Db, organizationId: Id<'org'>, limit: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('members')
    .select('email')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
  return rows.map(row => row.email)
}

/** A member with their organization. */
export interface MembershipRow extends MemberRow {
  readonly organization_name: string
  readonly plan: DatabaseSchema['organizations']['plan']
}

const maxMemberships = 200

/** What this person is a member of, oldest membership first: at most 200, or only this one organization. */
export function selectMemberships(
  db: Db,
  userId: Id<'usr'>,
  organizationId?: Id<'org'> | undefined,
): Promise<MembershipRow[]> {
  const query = db
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organization_id')
    .select(memberColumns.map(memberColumn => `members.${memberColumn}` as const))
    .select(['organizations.name as organization_name', 'organizations.plan'])
    .where('members.user_id', '=', userId)
  return (organizationId === undefined ? query : query.where('members.organization_id', '=', organizationId))
    .orderBy('members.id')
    .limit(sql.lit(maxMemberships))
    .execute()
}

/** The member with this id in any organization: for the operator. */
export function selectAnyMember(db: Db, id: Id<'mem'>): Promise<MemberRow | undefined> {
  return db.selectFrom('members').select(memberColumns).where('id', '=', id).executeTakeFirst()
}

/**
 * This member and all owners, locked until the transaction ends: transactions that change who owns the organization wait
 * for each other.
 */
export function lockMemberAndOwners(db: Db, organizationId: Id<'org'>, id: Id<'mem'>): Promise<MemberRow[]> {
  return db
    .selectFrom('members')
    .select(memberColumns)
    .where('organization_id', '=', organizationId)
    .where(where => where.or([where('id', '=', id), where('role', '=', 'owner')]))
    .orderBy('email')
    .forUpdate()
    .execute()
}

export async function updateMember(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'mem'>,
  change: Partial<Pick<MemberRow, 'role' | 'permissions'>> & Pick<MemberRow, 'updated_at'>,
): Promise<void> {
  await db
    .updateTable('members')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}

/** Joins a member with a person. */
export async function updateMemberUser(db: Db, id: Id<'mem'>, userId: Id<'usr'>): Promise<void> {
  await db.updateTable('members').set({ user_id: userId }).where('id', '=', id).execute()
}

/** Renames a person in all organizations. */
export async function updateMemberNames(db: Db, userId: Id<'usr'>, name: string): Promise<void> {
  await db.updateTable('members').set({ name }).where('user_id', '=', userId).execute()
}

export async function updateMembersActive(db: Db, ids: readonly Id<'mem'>[], at: Instant): Promise<void> {
  await db
    .updateTable('members')
    .set({ last_active_at: at })
    .where('id', 'in', ids)
    .where(where => where.or([where('last_active_at', 'is', null), where('last_active_at', '<', at)]))
    .execute()
}

/** Deletes the member and their access to brands. */
export async function deleteMember(db: Db, organizationId: Id<'org'>, id: Id<'mem'>): Promise<void> {
  await db.deleteFrom('members').where('organization_id', '=', organizationId).where('id', '=', id).execute()
}

/** The brands of each of these members, oldest brand first. */
export async function selectMemberBrands(
  db: Db,
  ids: readonly Id<'mem'>[],
): Promise<ReadonlyMap<Id<'mem'>, readonly Id<'brd'>[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('member_brands')
    .select(['member_id', 'brand_id'])
    .where('member_id', 'in', ids)
    .orderBy('brand_id')
    .execute()
  const byMember = Map.groupBy(rows, row => row.member_id)
  return new Map([...byMember].map(([id, memberRows]) => [id, memberRows.map(row => row.brand_id)]))
}

/** Replaces the member's brands by these. */
export async function replaceMemberBrands(db: Db, id: Id<'mem'>, brandIds: readonly Id<'brd'>[]): Promise<void> {
  await db.deleteFrom('member_brands').where('member_id', '=', id).execute()
  if (brandIds.length > 0)
    await db
      .insertInto('member_brands')
      .values(brandIds.map(brand_id => ({ member_id: id, brand_id })))
      .execute()
}
