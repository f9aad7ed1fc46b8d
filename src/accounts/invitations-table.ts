import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database.ts'
import type { Id } from '../base/ids.ts'
import type { Schema } from '../base/schema.ts'

export type InvitationRow = Schema['invitations']

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

/** The organization's invitations that are open at `now`, from the one after `after` on, oldest first. */
export function selectOpenInvitations(
  db: Db,
  organizationId: Id<'org'>,
  now: Instant,
  page: { readonly after: string | undefined; readonly limit: number },
): Promise<InvitationRow[]> {
  let query = db
    .selectFrom('invitations')
    .select(invitationColumns)
    .where('organization_id', '=', organizationId)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
  if (page.after !== undefined) query = query.where('id', '>', page.after as Id<'inv'>)
  return query.orderBy('id').limit(sql.lit(page.limit)).execute()
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
export interface LinkedInvitationRow extends InvitationRow {
  readonly organization_name: string
}

/** The invitation whose link holds this, whosever it is: the link is all that is shown. */
export function selectInvitationByToken(db: Db, tokenHash: Buffer): Promise<LinkedInvitationRow | undefined> {
  return db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .select(invitationColumns.map(each => `invitations.${each}` as const))
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
