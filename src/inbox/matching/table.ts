import { type RawBuilder, sql } from 'kysely'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Flag, Folder } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** Messages of a folder, as a filter of the list describes them. */
export interface MessageFilter {
  readonly folder: Folder
  readonly mailboxId: Id<'mbx'> | null
  /** null: read or not. */
  readonly isRead: Flag | null
  /** Only messages received until then: those that the list showed. null: all. */
  readonly receivedUntil: Instant | null
}

/**
 * The number of unread messages in these folders, each at most `limit`: entries of one index, of which no more are read.
 */
export async function selectUnreadByFolder(
  db: Db,
  tenant: Tenant,
  folders: readonly Folder[],
  { mailboxId, limit }: { readonly mailboxId: Id<'mbx'> | null; readonly limit: number },
): Promise<ReadonlyMap<Folder, number>> {
  const counts = folders.map(
    folder =>
      sql`SELECT ${folder} AS folder, COUNT(*) AS count FROM (${matchingIds(
        tenant,
        { folder, mailboxId, isRead: 0, receivedUntil: null },
        limit,
      )}) AS unread`,
  )
  const { rows } = await sql<{ readonly folder: Folder; readonly count: string | number }>`${sql.join(
    counts,
    sql` UNION ALL `,
  )}`.execute(db)
  return new Map(rows.map(row => [row.folder, Number(row.count)]))
}

/** How many messages match, at most `limit`. */
export async function countMatchingMessages(
  db: Db,
  tenant: Tenant,
  filter: MessageFilter,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{
    readonly count: string | number
  }>`SELECT COUNT(*) AS count FROM (${matchingIds(tenant, filter, limit)}) AS matching`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** At most `limit` messages that match. */
export async function selectMatchingIds(
  db: Db,
  tenant: Tenant,
  filter: MessageFilter,
  limit: number,
): Promise<readonly Id<'msg'>[]> {
  const { rows } = await sql<{ readonly id: Id<'msg'> }>`${matchingIds(tenant, filter, limit)}`.execute(db)
  return rows.map(row => row.id)
}

// The indexes are forced: left to choose, the servers go through all messages of the folder for the few that are unread.

function matchingIds(tenant: Tenant, filter: MessageFilter, limit: number): RawBuilder<unknown> {
  const { organizationId, brandId } = tenant
  const { folder, mailboxId, isRead, receivedUntil } = filter
  const conditions = [
    sql`messages.organization_id = ${organizationId}`,
    sql`messages.folder = ${folder}`,
    ...(brandId === null ? [] : [sql`messages.brand_id = ${brandId}`]),
    ...(mailboxId === null
      ? []
      : [sql`messages.mailbox_id = ${mailboxId} AND messages.brand_id = ${brandOf(mailboxId)}`]),
    ...(isRead === null ? [] : [sql`messages.is_read = ${isRead}`]),
    ...(receivedUntil === null ? [] : [sql`messages.received_at <= ${receivedUntil}`]),
  ]
  const rest = sql`WHERE ${sql.join(conditions, sql` AND `)} LIMIT ${sql.lit(limit)}`
  const isByBrand = isRead !== null && mailboxId === null && brandId === null
  // No index has the unread messages of an organization: those of its brands one after the other, until there are enough.
  return isByBrand
    ? sql`SELECT STRAIGHT_JOIN messages.id FROM brands
        INNER JOIN messages FORCE INDEX (messages_brand_unread)
          ON messages.brand_id = brands.id AND brands.organization_id = ${organizationId} ${rest}`
    : sql`SELECT messages.id FROM messages FORCE INDEX (${indexFor(tenant, filter)}) ${rest}`
}

function brandOf(mailboxId: Id<'mbx'>): RawBuilder<unknown> {
  return sql`(SELECT brand_id FROM mailboxes WHERE id = ${mailboxId})`
}

function indexFor({ brandId }: Tenant, { mailboxId, isRead }: MessageFilter) {
  if (isRead !== null) return sql.raw('messages_brand_unread')
  if (mailboxId !== null) return sql.raw('messages_mailbox')
  return sql.raw(brandId === null ? 'messages_organization' : 'messages_brand')
}
