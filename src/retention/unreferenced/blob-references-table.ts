import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** Those of the blobs that a message or an email refers to; nothing else refers to blobs. */
export async function selectReferencedBlobs(db: Db, ids: readonly Id<'blb'>[]): Promise<ReadonlySet<Id<'blb'>>> {
  const [messages, emails] = await Promise.all([
    db.selectFrom('messages').select('blob_id').distinct().where('blob_id', 'in', ids).execute(),
    db.selectFrom('emails').select('blob_id').distinct().where('blob_id', 'in', ids).execute(),
  ])
  return new Set([...messages, ...emails].map(row => row.blob_id))
}
