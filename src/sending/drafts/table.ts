import { sql } from 'kysely'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export type DraftRow = DatabaseSchema['drafts']

const columns = [
  'id',
  'organization_id',
  'brand_id',
  'from_header',
  'to_addresses',
  'cc_addresses',
  'bcc_addresses',
  'reply_to',
  'subject',
  'text',
  'in_reply_to',
  'created_at',
  'updated_at',
] as const

type DraftKey = Pick<DraftRow, 'organization_id' | 'id'>

function at(db: Db, { organization_id, id }: DraftKey) {
  return db.selectFrom('drafts').where('organization_id', '=', organization_id).where('id', '=', id)
}

export async function selectDraft(db: Db, key: DraftKey): Promise<DraftRow | undefined> {
  return await at(db, key).select(columns).executeTakeFirst()
}

/** The same, locked until the transaction ends. */
export async function lockDraft(db: Db, key: DraftKey): Promise<DraftRow | undefined> {
  return await at(db, key).select(columns).forUpdate().executeTakeFirst()
}

/** Locks the draft until the transaction ends; false: it has been deleted or changed since it was read. */
export async function lockUnchangedDraft(db: Db, draft: DraftKey & Pick<DraftRow, 'updated_at'>): Promise<boolean> {
  const row = await at(db, draft).select('updated_at').forUpdate().executeTakeFirst()
  return row?.updated_at === draft.updated_at
}

export async function insertDraft(db: Db, row: DraftRow): Promise<void> {
  await db.insertInto('drafts').values(row).execute()
}

export async function updateDraft(db: Db, { organization_id, id, ...row }: DraftRow): Promise<void> {
  await db.updateTable('drafts').set(row).where('organization_id', '=', organization_id).where('id', '=', id).execute()
}

export async function deleteDraft(db: Db, { organization_id, id }: DraftKey): Promise<void> {
  await db.deleteFrom('drafts').where('organization_id', '=', organization_id).where('id', '=', id).execute()
}

/** The ids of at most `limit` drafts older than `after`, newest first, with their sizes in a response. */
export async function selectDraftSizes(
  db: Db,
  organizationId: Id<'org'>,
  { after, limit }: { readonly after: Id<'drf'> | null; readonly limit: number },
): Promise<readonly { readonly id: Id<'drf'>; readonly bytes: number }[]> {
  const conditions = [sql`organization_id = ${organizationId}`, ...(after === null ? [] : [sql`id < ${after}`])]
  // Forced: left to choose, the servers go through the drafts of all organizations.
  const { rows } = await sql<{ readonly id: Id<'drf'>; readonly bytes: number }>`SELECT id,
    COALESCE(LENGTH(text), 0) + LENGTH(to_addresses) + LENGTH(cc_addresses) + LENGTH(bcc_addresses) + LENGTH(reply_to)
      AS bytes
    FROM drafts FORCE INDEX (drafts_organization)
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY id DESC LIMIT ${sql.lit(limit)}`.execute(db)
  return rows
}

/** These drafts, newest first. */
export async function selectDrafts(
  db: Db,
  organizationId: Id<'org'>,
  ids: readonly Id<'drf'>[],
): Promise<readonly DraftRow[]> {
  if (ids.length === 0) return []
  return await db
    .selectFrom('drafts')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .orderBy('id', 'desc')
    .execute()
}
