import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { Id } from '../../base/ids.ts'

/** A Message-ID seen in a brand, and the thread it belongs to. */
export interface ThreadReference {
  readonly brandId: Id<'brd'>
  /** The first 16 bytes of the SHA-256 of the Message-ID. */
  readonly reference: Buffer
  readonly threadId: string
  /** The sent email that has this Message-ID. */
  readonly emailId: Id<'eml'> | null
}

type ReferenceKey = Pick<ThreadReference, 'brandId' | 'reference'>

/** The threads of these Message-IDs; those never seen are left out. */
export async function selectReferences(db: Db, keys: readonly ReferenceKey[]): Promise<readonly ThreadReference[]> {
  if (keys.length === 0) return []
  const brandIds = new Set(keys.map(key => key.brandId))
  return db
    .selectFrom('thread_references')
    .select(['brand_id as brandId', 'reference', 'thread_id as threadId', 'email_id as emailId'])
    .where(where =>
      where.or(
        Array.from(brandIds, brandId => {
          const references = keys.filter(key => key.brandId === brandId).map(key => key.reference)
          return where.and([where('brand_id', '=', brandId), where('reference', 'in', references)])
        }),
      ),
    )
    .execute()
}

/** Adds those that do not exist yet; gives how many that were. */
export async function insertNewReferences(db: Db, rows: readonly ThreadReference[]): Promise<number> {
  return await insertRows(db, 'thread_references', rows.map(columnsOf), 'ignore')
}

/** Adds those that do not exist yet. An existing one keeps its thread, and gets its email if it had none. */
export async function insertReferences(db: Db, rows: readonly ThreadReference[]): Promise<void> {
  await insertRows(
    db,
    'thread_references',
    rows.map(columnsOf),
    'ON DUPLICATE KEY UPDATE email_id = COALESCE(thread_references.email_id, VALUES(email_id))',
  )
}

function columnsOf(row: ThreadReference) {
  return { brand_id: row.brandId, reference: row.reference, thread_id: row.threadId, email_id: row.emailId }
}

/** Moves these references of a brand from one thread to another. */
export async function updateReferenceThreads(
  db: Db,
  brandId: Id<'brd'>,
  references: readonly Buffer[],
  move: { readonly from: string; readonly to: string },
): Promise<void> {
  await db
    .updateTable('thread_references')
    .set({ thread_id: move.to })
    .where('brand_id', '=', brandId)
    .where('reference', 'in', references)
    .where('thread_id', '=', move.from)
    .execute()
}
