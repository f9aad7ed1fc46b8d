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
] as const

export async function insertInvitation(db: Db, row: InvitationRow): Promise<void> {
  await db.insertInto('invitations').values(row).execute()
}

/** A place in a list of invitations. */
export type InvitationCursor = Pick<InvitationRow, 'expires_at' | 'id'>

/** The organization's invitations that are open at `now`, those that end first first: a range of one index. */
export async function selectOpenInvitations(
  db: Db,
  organizationId: Id<'org'>,
  now: Instant,
  { after, limit }: { readonly after: InvitationCursor | undefined; readonly limit: number },
): Promise<InvitationRow[]> {
  // Spelled out: as a comparison of pairs neither server would use the index.
  const from = after
    ? sql`AND expires_at >= ${after.expires_at} AND (expires_at > ${after.expires_at} OR id > ${after.id})`
    : sql``
  // Forced: left to choose, the servers go through those that are closed too.
  const { rows } = await sql<InvitationRow>`SELECT ${sql.raw(invitationColumns.join(', '))}
    FROM invitations FORCE INDEX (invitations_open)
    WHERE organization_id = ${organizationId} AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ${now} ${from}
    ORDER BY expires_at, id LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Drops at most `most` invitations that ended before `before` if nobody took them or took them back; says how many. */
export async function deleteInvitations(db: Db, before: Instant, most: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('invitations')
    .where('expires_at', '<', before)
    .limit(sql.lit(most))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Locked until the transaction ends. */
export function lockInvitation(db: Db, organizationId: Id<'org'>, id: Id<'inv'>): Promise<InvitationRow | undefined> {
  return db
    .selectFrom('invitations')
    .select(invitationColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** An invitation as whoever holds its link sees it. */
export interface InvitationWithOrganizationRow extends InvitationRow {
  readonly organization_name: string
}

/** The invitation whose link holds this, whosever it is: the link is all that is shown. */
export function selectInvitationByToken(db: Db, tokenHash: Buffer): Promise<InvitationWithOrganizationRow | undefined> {
  return db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .select(invitationColumns.map(invitationColumn => `invitations.${invitationColumn}` as const))
    .select('organizations.name as organization_name')
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
}

/** The same, locked until the transaction ends. */
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
  change: Partial<Pick<InvitationRow, 'brand_ids' | 'permissions' | 'accepted_at' | 'revoked_at' | 'member_id'>>,
): Promise<void> {
  await db
    .updateTable('invitations')
    .set(change)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}
