import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type AuditRow = Selectable<DatabaseSchema['audit_log']>

export async function insertAuditEntry(db: Db, row: AuditRow): Promise<void> {
  await db.insertInto('audit_log').values(row).execute()
}

/** Which entries to select; an absent field does not filter. */
export interface AuditFilter {
  readonly actor?: string
  readonly subject?: string
  readonly action?: string
  readonly since?: Instant
  readonly organizationId?: Id<'org'>
}

/** At most `limit` entries, newest first, older than the entry `before`. */
export async function selectAuditEntries(
  db: Db,
  { actor, subject, action, since, organizationId }: AuditFilter,
  { before, limit }: { readonly before?: Id<'aud'> | undefined; readonly limit: number },
): Promise<readonly AuditRow[]> {
  let query = db
    .selectFrom('audit_log')
    .select(['id', 'at', 'actor', 'action', 'subject', 'detail', 'organization_id', 'ip'])
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (subject !== undefined) query = query.where('subject', '=', subject)
  if (action !== undefined) query = query.where('action', '=', action)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (before !== undefined) query = query.where('id', '<', before)
  return query.orderBy('id', 'desc').limit(sql.lit(limit)).execute()
}
