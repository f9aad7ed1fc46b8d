import { CompiledQuery, sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'

export type BlobRow = DatabaseSchema['blobs']
export type ChunkRow = DatabaseSchema['blob_chunks']

/** Identifies a blob by its content. */
export interface BlobKey {
  readonly organizationId: Id<'org'>
  readonly sha256: Buffer
}

/** The rows that exist for these keys, in any order. */
export async function selectBlobsByContent(db: Db, keys: readonly BlobKey[]): Promise<readonly BlobRow[]> {
  if (keys.length === 0) return []
  return await db
    .selectFrom('blobs')
    .select(['id', 'organization_id', 'sha256', 'size', 'complete', 'created_at'])
    .where(where =>
      where.or(
        keys.map(key =>
          where.and([where('organization_id', '=', key.organizationId), where('sha256', '=', key.sha256)]),
        ),
      ),
    )
    .execute()
}

export async function selectBlob(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'blb'>,
): Promise<{ size: number } | undefined> {
  return await db
    .selectFrom('blobs')
    .select('size')
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .where('complete', '=', 1)
    .executeTakeFirst()
}

/** @throws a duplicate on `blobs_content` when the organization has these bytes. */
export async function insertBlob(db: Db, row: BlobRow): Promise<void> {
  await insertRows(db, 'blobs', [row])
}

/** Inserts the blobs that the organization does not have yet; returns how many. */
export async function insertNewBlobs(db: Db, rows: readonly BlobRow[]): Promise<number> {
  return await insertRows(db, 'blobs', rows, 'ignore')
}

// Up to so many bytes in a statement, sending them separately costs more than it saves.
const minSeparateBytes = 128 * 1024

/** Inserts chunks. One that exists already has the same bytes, which follow from the blob's content and the position. */
export async function insertChunks(db: Db, rows: readonly ChunkRow[]): Promise<void> {
  const bytes = rows.reduce((sum, row) => sum + row.bytes.length, 0)
  if (bytes < minSeparateBytes) await insertRows(db, 'blob_chunks', rows, ifNew)
  else await onOneConnection(db, connection => insertThroughVariables(connection, rows))
}

const ifNew = 'ON DUPLICATE KEY UPDATE position = position'

/** A chunk whose bytes are read when they are sent. */
export type UnreadChunk = Omit<ChunkRow, 'bytes'>

/**
 * Inserts long chunks together, like {@link insertChunks}, with the bytes of one of them in memory at a time.
 * @param withBytes reads the bytes of a chunk and gives them to `send`; once that has resolved nobody uses them any more
 */
export async function insertUnreadChunks(
  db: Db,
  rows: readonly UnreadChunk[],
  withBytes: (row: UnreadChunk, send: (bytes: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  await onOneConnection(db, async connection => {
    for (const [index, row] of rows.entries())
      await withBytes(row, bytes => runStatement(connection, `SET ${variableOf(index)} = ?`, [bytes]))
    await insertVariables(connection, rows)
  })
}

async function onOneConnection(db: Db, work: (connection: Db) => Promise<void>): Promise<void> {
  if (db.isTransaction) await work(db)
  else await db.connection().execute(work)
}

/**
 * Sends the bytes as user variables first, all on one connection. With a binary log MariaDB writes each statement that changes
 * data out as text, every value escaped, which for long values costs more than storing them. SET changes no data. (MySQL
 * writes out both.)
 */
async function insertThroughVariables(db: Db, rows: readonly ChunkRow[]): Promise<void> {
  await runStatement(
    db,
    `SET ${rows.map((_, index) => `${variableOf(index)} = ?`).join(', ')}`,
    rows.map(row => row.bytes),
  )
  await insertVariables(db, rows)
}

/** Inserts chunks whose bytes are in the variables of the connection. */
async function insertVariables(db: Db, rows: readonly UnreadChunk[]): Promise<void> {
  const variables = rows.map((_, index) => variableOf(index))
  await runStatement(
    db,
    `INSERT INTO blob_chunks (blob_id, position, bytes)
    VALUES ${variables.map(name => `(?, ?, ${name})`).join(', ')} ${ifNew}`,
    rows.flatMap(row => [row.blob_id, row.position]),
  )
  // They would stay in the server's memory for as long as the connection.
  await runStatement(db, `SET ${variables.map(name => `${name} = NULL`).join(', ')}`, [])
}

function variableOf(index: number): string {
  return `@chunk_${index}`
}

async function runStatement(db: Db, text: string, parameters: readonly unknown[]): Promise<void> {
  await db.executeQuery({ ...blank, sql: text, parameters })
}

/** Deletes all chunks of these blobs. */
export async function deleteChunks(db: Db, ids: readonly Id<'blb'>[]): Promise<void> {
  if (ids.length > 0) await db.deleteFrom('blob_chunks').where('blob_id', 'in', ids).execute()
}

// Created once, as in insert-rows.ts.
const blank = CompiledQuery.raw('')

export async function selectChunkPositions(db: Db, id: Id<'blb'>): Promise<ReadonlySet<number>> {
  const rows = await db.selectFrom('blob_chunks').select('position').where('blob_id', '=', id).execute()
  return new Set(rows.map(row => row.position))
}

export async function selectChunk(db: Db, id: Id<'blb'>, position: number): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('blob_chunks')
    .select('bytes')
    .where('blob_id', '=', id)
    .where('position', '=', position)
    .executeTakeFirst()
  return row?.bytes
}

/** A chunk of a blob, and the blob's size. */
type BlobWithChunk = Pick<DatabaseSchema['blobs'], 'id' | 'organization_id'> & {
  readonly size: number
  readonly position: number | null
  readonly bytes: Buffer | null
}

/** The chunks of complete blobs, in any order; an empty blob has one row with null bytes. */
export async function selectBlobsWithChunks(db: Db, ids: readonly Id<'blb'>[]): Promise<readonly BlobWithChunk[]> {
  const padded = padToPowerOfTwo(ids)
  const text = `SELECT b.id, b.organization_id, b.size, c.position, c.bytes
    FROM blobs b LEFT JOIN blob_chunks c ON c.blob_id = b.id WHERE b.id IN (${placeholders(padded)}) AND b.complete = 1`
  return selectRows<BlobWithChunk>(db, text, padded)
}

/** Marks a blob of one chunk, which another process began, as complete. False: there is no such blob. */
export async function updateBlobComplete(db: Db, id: Id<'blb'>, now: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ complete: 1, created_at: now })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Sets `created_at` to `now` because the bytes were stored again, which keeps the blob from being deleted. False: there is none. */
export async function updateBlobCreatedAt(db: Db, id: Id<'blb'>, now: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ created_at: now })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Marks a blob as complete if all its chunks are there. Was it? */
export async function updateBlobIfComplete(db: Db, id: Id<'blb'>, chunks: number, now: Instant): Promise<boolean> {
  const row = await db.selectFrom('blobs').select('id').where('id', '=', id).forUpdate().executeTakeFirst()
  const { count } = await db
    .selectFrom('blob_chunks')
    .select(sql<number>`COUNT(*)`.as('count'))
    .where('blob_id', '=', id)
    .executeTakeFirstOrThrow()
  if (!row || count < chunks) return false
  await db.updateTable('blobs').set({ complete: 1, created_at: now }).where('id', '=', id).execute()
  return true
}
