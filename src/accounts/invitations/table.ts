import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type InvitationRow = DatabaseSchema['invitations']

const invitationColumns = [
  'id',
  'organization_id',
  'email',
  'brand_ids',
  'permissions',
  'invited_by',
  'token_hash',
  'created_at',
  'expires_at',
  'accepted_at',
  'revoked_at',
  'member_id',
  'updated_at',
] as const

export async function insertInvitation(db: Db, row: InvitationRow): Promise<void> {
  await db.insertInto('invitations').values(row).execute()
}

/** Keyset position in a list of invitations. */
export type InvitationCursor = Pick<InvitationRow, 'expires_at' | 'id'>

/** The organization's invitations that are open at `now`, by expiry: a range of one index. */
export async function selectOpenInvitations(
  db: Db,
  organizationId: Id<'org'>,
  now: Instant,
  { after, limit }: { readonly after: InvitationCursor | undefined; readonly limit: number },
): Promise<InvitationRow[]> {
  // Spelled out: MariaDB and MySQL do not use the index for a row-value comparison.
  const from = after
    ? sql`AND expires_at >= ${after.expires_at} AND (expires_at > ${after.expires_at} OR id > ${after.id})`
    : sql``
  // Forced: left to choose, both servers scan the closed invitations as well.
  const { rows } = await sql<InvitationRow>`SELECT ${sql.raw(invitationColumns.join(', '))}
    FROM invitations FORCE INDEX (invitations_open)
    WHERE organization_id = ${organizationId} AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ${now} ${from}
    ORDER BY expires_at, id LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Deletes up to `most` invitations whose expiry is before `before`, whatever became of them; resolves to how many. */
export async function deleteInvitations(db: Db, before: Instant, most: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('invitations')
    .where('expires_at', '<', before)
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

export function selectInvitation(db: Db, organizationId: Id<'org'>, id: Id<'inv'>): Promise<InvitationRow | undefined> {
  return invitationQuery(db, organizationId, id).executeTakeFirst()
}

/** The same invitation, locked until the transaction ends. */
export function lockInvitation(db: Db, organizationId: Id<'org'>, id: Id<'inv'>): Promise<InvitationRow | undefined> {
  return invitationQuery(db, organizationId, id).forUpdate().executeTakeFirst()
}

function invitationQuery(db: Db, organizationId: Id<'org'>, id: Id<'inv'>) {
  return db
    .selectFrom('invitations')
    .select(invitationColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
}

/** An invitation with the name of its organization. */
export interface InvitationWithOrganizationRow extends InvitationRow {
  readonly organization_name: string
}

/** The invitation with this token, in any organization: the link is the only credential. */
export function selectInvitationByToken(db: Db, tokenHash: Buffer): Promise<InvitationWithOrganizationRow | undefined> {
  return db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .select(invitationColumns.map(invitationColumn => `invitations.${invitationColumn}` as const))
    .select('organizations.name as organization_name')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
}

/** The invitation with this token, locked until the transaction ends. */
export function lockInvitationByToken(db: Db, tokenHash: Buffer): Promise<InvitationRow | undefined> {
  return db
    .selectFrom('invitations')
    .select(invitationColumns)
    .where('token_hash', '=', tokenHash)
    .forUpdate()
    .executeTakeFirst()
}

export async function updateInvitation(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'inv'>,
  change: Partial<
    Pick<InvitationRow, 'brand_ids' | 'permissions' | 'accepted_at' | 'revoked_at' | 'member_id' | 'updated_at'>
  >,
): Promise<void> {
  await db
    .updateTable('invitations')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}
