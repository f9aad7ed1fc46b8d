import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema, Role } from '../../base/database/schema.ts'
import { placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

type KeyRow = DatabaseSchema['api_keys']

const keyColumns = [
  'id',
  'organization_id',
  'brand_id',
  'name',
  'secret_hash',
  'scopes',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'created_at',
  'maker_id',
  'member_id',
  'disabled_at',
] as const

export async function insertKey(db: Db, row: KeyRow): Promise<void> {
  await db.insertInto('api_keys').values(row).execute()
}

/** A key with the addresses of its member and its maker; null: it has none, or they were removed. */
export interface KeyListRow extends KeyRow {
  readonly member_email: string | null
  readonly maker_email: string | null
}

/** The organization's keys, or with null those of all organizations; oldest first. */
export function selectKeys(db: Db, organizationId: Id<'org'> | null): Promise<KeyListRow[]> {
  let query = db
    .selectFrom('api_keys')
    .leftJoin('members', join =>
      join
        .onRef('members.id', '=', 'api_keys.member_id')
        .onRef('members.organization_id', '=', 'api_keys.organization_id'),
    )
    .leftJoin('members as makers', join =>
      join
        .onRef('makers.id', '=', 'api_keys.maker_id')
        .onRef('makers.organization_id', '=', 'api_keys.organization_id'),
    )
    .select(keyColumns.map(keyColumn => `api_keys.${keyColumn}` as const))
    .select(['members.email as member_email', 'makers.email as maker_email'])
  if (organizationId !== null) query = query.where('api_keys.organization_id', '=', organizationId)
  return query.orderBy('api_keys.id').execute()
}

/** How a key of the organization is shown. */
export async function selectKeyName(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'key'>,
): Promise<Pick<KeyRow, 'id' | 'name' | 'revoked_at'> | undefined> {
  return db
    .selectFrom('api_keys')
    .select(['id', 'name', 'revoked_at'])
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** A key with the current state of its member and its maker; null: it has none, or they were removed. */
export interface KeyAuthRow extends KeyRow {
  readonly member_role: Role | null
  readonly member_permissions: string | null
  readonly member_active_at: Instant | null
  /** The key's brand, if the member still has access to it. */
  readonly member_brand_id: Id<'brd'> | null
  readonly maker_role: Role | null
}

/** Which keys a page shows; an absent field does not filter. */
export interface KeyPageFilter {
  readonly organizationId: Id<'org'>
  /** Only keys that belong to this member. */
  readonly memberId?: Id<'mem'> | undefined
  /** Only keys that are neither revoked nor expired at this instant. */
  readonly liveAt?: Instant | undefined
}

/** A key of a page: its own columns, the current state of its member and its maker, and their addresses and brand. */
export interface KeyPageRow extends Omit<KeyAuthRow, 'secret_hash'> {
  readonly brand_name: string | null
  readonly member_email: string | null
  readonly maker_email: string | null
}

/** At most `limit` keys, newest first, older than `before`. */
export async function selectKeyPage(
  db: Db,
  { organizationId, memberId, liveAt }: KeyPageFilter,
  { before, limit }: { readonly before: Id<'key'> | null; readonly limit: number },
): Promise<readonly KeyPageRow[]> {
  const conditions = [
    sql`k.organization_id = ${organizationId}`,
    ...(memberId === undefined ? [] : [sql`k.member_id = ${memberId}`]),
    ...(liveAt === undefined ? [] : [sql`k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${liveAt})`]),
    ...(before === null ? [] : [sql`k.id < ${before}`]),
  ]
  const { rows } = await sql<KeyPageRow>`SELECT ${sql.raw(shownColumns)}, n.name AS brand_name, m.email AS member_email,
      r.email AS maker_email
    FROM api_keys k FORCE INDEX (api_keys_organization) ${sql.raw(joinPeople)} LEFT JOIN brands n ON n.id = k.brand_id
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY k.id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** How many live keys each of these members has; one without any is absent. */
export async function countLiveKeys(
  db: Db,
  organizationId: Id<'org'>,
  memberIds: readonly Id<'mem'>[],
  now: Instant,
): Promise<ReadonlyMap<Id<'mem'>, number>> {
  if (memberIds.length === 0) return new Map()
  const { rows } = await sql<{ readonly member_id: Id<'mem'>; readonly count: string | number }>`
    SELECT member_id, COUNT(*) AS count FROM api_keys FORCE INDEX (api_keys_organization)
    WHERE organization_id = ${organizationId} AND member_id IN (${sql.join(memberIds)}) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${now})
    GROUP BY member_id`.execute(db)
  return new Map(rows.map(row => [row.member_id, Number(row.count)]))
}

const stateColumns = `m.role AS member_role, m.permissions AS member_permissions, m.last_active_at AS member_active_at,
    b.brand_id AS member_brand_id, r.role AS maker_role`

const shownColumns = `${keyColumns
  .filter(keyColumn => keyColumn !== 'secret_hash')
  .map(keyColumn => `k.${keyColumn}`)
  .join(', ')}, ${stateColumns}`

const joinPeople = `LEFT JOIN members m ON m.id = k.member_id AND m.organization_id = k.organization_id
  LEFT JOIN member_brands b ON b.member_id = k.member_id AND b.brand_id = k.brand_id
  LEFT JOIN members r ON r.id = k.maker_id AND r.organization_id = k.organization_id`

const selectLive = `SELECT ${keyColumns.map(keyColumn => `k.${keyColumn}`).join(', ')},
    ${stateColumns}
  FROM api_keys k ${joinPeople}
  WHERE k.id IN`

/** The keys with these ids in any organization: the caller is not known yet. Joins by primary keys only. */
export function selectKeysForAuth(db: Db, ids: readonly Id<'key'>[]): Promise<KeyAuthRow[]> {
  return selectRows<KeyAuthRow>(db, `${selectLive} (${placeholders(ids)})`, ids)
}

/** Revokes the key; a repeated revocation keeps the first time. False when there is no such key. */
export async function updateKeyRevoked(db: Db, id: Id<'key'>, at: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Instant>`COALESCE(revoked_at, ${at})` })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Disables the key since `at`, or enables it (null); a disabled key keeps its time. False when there is no such key. */
export async function updateKeyDisabled(db: Db, id: Id<'key'>, at: Instant | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('api_keys')
    .set({ disabled_at: at === null ? null : sql<Instant>`COALESCE(disabled_at, ${at})` })
    .where('id', '=', id)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Revokes a key of the organization, with `memberId` only that member's. False when there is no such key. */
export async function updateKeyRevokedInOrganization(
  db: Db,
  organizationId: Id<'org'>,
  memberId: Id<'mem'> | null,
  id: Id<'key'>,
  at: Instant,
): Promise<boolean> {
  let query = db
    .updateTable('api_keys')
    .set({ revoked_at: sql<Instant>`COALESCE(revoked_at, ${at})` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
  if (memberId !== null) query = query.where('member_id', '=', memberId)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Revokes all keys of this member. */
export async function updateMemberKeysRevoked(
  db: Db,
  organizationId: Id<'org'>,
  memberId: Id<'mem'>,
  at: Instant,
): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('organization_id', '=', organizationId)
    .where('member_id', '=', memberId)
    .where('revoked_at', 'is', null)
    .execute()
}

export async function updateKeysUsed(db: Db, ids: readonly Id<'key'>[], at: Instant): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('id', 'in', ids)
    .where(where => where.or([where('last_used_at', 'is', null), where('last_used_at', '<', at)]))
    .execute()
}
