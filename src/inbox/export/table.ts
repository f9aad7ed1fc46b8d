import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Folder } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { type MessageDetailRow, messageColumns } from '../messages/table.ts'

/** Which messages are exported: all of an organization, a brand or a mailbox. */
export type ExportScope =
  | { readonly kind: 'organization'; readonly id: Id<'org'> }
  | { readonly kind: 'brand'; readonly id: Id<'brd'> }
  | { readonly kind: 'mailbox'; readonly id: Id<'mbx'> }

const scopeColumns = {
  organization: { column: 'organization_id', index: 'messages_organization' },
  brand: { column: 'brand_id', index: 'messages_brand' },
  mailbox: { column: 'mailbox_id', index: 'messages_mailbox' },
} as const

/** The export goes on after this message; `id` empty: with the first that was received at this time. */
export interface ExportCursor {
  readonly receivedAt: Instant
  readonly id: string
}

export type ExportedRow = MessageDetailRow

/** At most `limit` messages of a folder after the cursor, the oldest first: a range of one index. */
export async function selectExportBatch(
  db: Db,
  scope: ExportScope,
  folder: Folder,
  { receivedAt, id }: ExportCursor,
  limit: number,
): Promise<readonly ExportedRow[]> {
  const { column, index } = scopeColumns[scope.kind]
  const { rows } = await sql<ExportedRow>`SELECT ${sql.raw(messageColumns.join(', '))}
    FROM messages FORCE INDEX (${sql.raw(index)})
    WHERE ${sql.ref(column)} = ${scope.id} AND folder = ${folder}
      AND received_at >= ${receivedAt} AND (received_at > ${receivedAt} OR id > ${id})
    ORDER BY received_at, id LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** The mailboxes with this address, with their organizations; several organizations may have added the domain. */
export async function selectMailboxesByAddress(db: Db, localPart: string, domain: string) {
  return await db
    .selectFrom('mailboxes')
    .innerJoin('domains', 'domains.id', 'mailboxes.domain_id')
    .select(['mailboxes.id', 'mailboxes.organization_id'])
    .where('domains.domain', '=', domain)
    .where('mailboxes.local_part', '=', localPart)
    .orderBy('mailboxes.id')
    .execute()
}

/** Does the organization, brand or mailbox exist? */
export async function scopeExists(db: Db, { kind, id }: ExportScope): Promise<boolean> {
  const table = { organization: 'organizations', brand: 'brands', mailbox: 'mailboxes' } as const
  const { rows } = await sql`SELECT 1 FROM ${sql.table(table[kind])} WHERE id = ${id}`.execute(db)
  return rows.length > 0
}
