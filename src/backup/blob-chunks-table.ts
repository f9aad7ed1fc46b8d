import type { Db } from '../base/database/database.ts'
import { placeholders, selectRows } from '../base/database/select-rows.ts'

/** A chunk of the content of a blob; `position` counts from 0. */
export interface BlobChunk {
  readonly position: number
  readonly bytes: Buffer
}

/** A blob up to this size has one chunk. */
const chunkBytes = 512 * 1024
const chunksPerQuery = 8

async function selectChunks(
  db: Db,
  ids: readonly string[],
  from: number,
  to: number,
): Promise<readonly (BlobChunk & { readonly id: string })[]> {
  if (ids.length === 0) return []
  const text = `SELECT blob_id AS id, position, bytes FROM blob_chunks
    WHERE blob_id IN (${placeholders(ids)}) AND position >= ${from} AND position < ${to} ORDER BY blob_id, position`
  return await selectRows(db, text, ids)
}

/** The chunks of those of the blobs that have one chunk, by blob; an empty list: it is missing. Larger blobs are left out. */
export async function selectSmallBlobs(
  db: Db,
  blobs: readonly { readonly id: string; readonly size: number }[],
): Promise<ReadonlyMap<string, readonly BlobChunk[]>> {
  const ids = blobs.filter(blob => blob.size <= chunkBytes).map(blob => blob.id)
  const chunks = Map.groupBy(await selectChunks(db, ids, 0, 1), chunk => chunk.id)
  return new Map(ids.map(id => [id, chunks.get(id) ?? []]))
}

/** The chunks of one blob in order, a few with each query. */
export async function* selectLargeBlob(
  db: Db,
  { id, size }: { readonly id: string; readonly size: number },
): AsyncGenerator<BlobChunk> {
  for (let from = 0; from * chunkBytes < size; from += chunksPerQuery)
    yield* await selectChunks(db, [id], from, from + chunksPerQuery)
}
