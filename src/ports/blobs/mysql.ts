import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { type Clock, dayMs, type Instant, plusMs } from '../../base/clock.ts'
import { batched } from '../../base/concurrency/batch.ts'
import { limitConcurrency } from '../../base/concurrency/semaphore.ts'
import { type Db, inTransaction, isDuplicate, LockLostError } from '../../base/database/database.ts'
import { type Id, newId } from '../../base/ids.ts'
import type { MessageSource } from '../../mail/message-source.ts'
import type { BlobStore, BlobStoredWithin, SmallContent, StoredBlob } from './port.ts'
import {
  type BlobKey,
  type BlobRow,
  type ChunkRow,
  deleteChunks,
  insertBlob,
  insertChunks,
  insertNewBlobs,
  insertUnreadChunks,
  selectBlob,
  selectBlobsByContent,
  selectBlobsWithChunks,
  selectChunk,
  selectChunkPositions,
  updateBlobComplete,
  updateBlobCreatedAt,
  updateBlobIfComplete,
} from './table.ts'

/** The size of each chunk except the last. */
const chunkBytes = 512 * 1024
/** Well below the 16 MiB of max_allowed_packet. */
const maxStatementBytes = 8 * 1024 * 1024
const maxConcurrentStaging = 4
/** Chunks of a large blob in a statement: each is a commit that the database syncs, and is in its memory while it runs. */
const stagedTogether = 4
/** What chunks of files are read into, kept so that a message leaves the garbage collector little. */
const spareBuffers: Buffer[] = []
const maxSpareBuffers = maxConcurrentStaging
const maxTries = 5
/** A blob that is stored again gets a new `created_at` if it is older than this, since unreferenced blobs are deleted after 7 days. */
const renewAfterMs = dayMs

/** Content of at most one chunk. */
interface SmallBlob extends BlobKey {
  readonly bytes: Buffer
}

/** A {@link BlobStore} in the tables `blobs` and `blob_chunks`: content-addressed within an organization, in chunks of 512 KiB. */
export function mysqlBlobs(db: Db, clock: Clock): BlobStore {
  const storeOne = batched<SmallBlob, StoredBlob>({ maxItems: 64, maxInFlight: 1 }, items =>
    inTransaction(db, tx => storeSmall(tx, clock.now(), items, 'known')),
  )
  const staging = limitConcurrency(maxConcurrentStaging)
  const readOne = batched<BlobRef, Buffer | undefined>({ maxItems: 16, maxInFlight: 4 }, refs => readAll(db, refs))
  return {
    async store(organizationId, content, sha256 = null) {
      if (content.kind === 'memory' && content.size <= chunkBytes) {
        return await storeOne(smallOf({ organizationId, bytes: content.bytes, ...(sha256 && { sha256 }) }))
      }
      return await staging(() => stage(db, clock, organizationId, content, sha256))
    },
    storeWithin: (tx, items) => storeSmall(tx, clock.now(), items.map(smallOf), 'new'),
    read: (organizationId, id, range = {}) => readRange(db, organizationId, id, range),
    async readWhole(organizationId, id) {
      const bytes = await readOne({ organizationId, id })
      if (!bytes) throw new Error(`there is no blob ${id}`)
      return bytes
    },
  }
}

function smallOf({ organizationId, bytes, sha256 }: SmallContent): SmallBlob {
  return { organizationId, sha256: sha256 ?? createHash('sha256').update(bytes).digest(), bytes }
}

/**
 * Stores many small blobs inside a transaction.
 * @param expected `new`: almost always all are, so their bytes are sent with their rows, and deleted again where a blob exists
 * already, or was stored at the same time by another transaction. `known`: their bytes are sent once it is clear that they are new
 */
async function storeSmall(
  db: Db,
  now: Instant,
  items: readonly SmallBlob[],
  expected: 'new' | 'known',
): Promise<readonly BlobStoredWithin[]> {
  // Sorted, so that two transactions with the same blobs wait for each other instead of deadlocking.
  const byKey = new Map(items.map(item => [keyOf(item), item] as const).sort(([a], [b]) => (a < b ? -1 : 1)))
  const fresh = Array.from(byKey.values(), item => ({ ...newRow(item, item.bytes.length, now), complete: 1 as const }))
  const sent = expected === 'new' ? fresh : []
  const [inserted] = await Promise.all([insertNewBlobs(db, fresh), insertOnlyChunks(db, sent, byKey)])
  const rows = inserted === fresh.length ? fresh : await findKnown(db, now, byKey)
  const stored = new Map(rows.map(row => [keyOf(keyOfRow(row)), row]))
  const ids = new Set(rows.map(row => row.id))
  await deleteChunks(
    db,
    sent.flatMap(row => (ids.has(row.id) ? [] : row.id)),
  )
  const sentIds = new Set(sent.map(row => row.id))
  const freshIds = new Set(fresh.map(row => row.id))
  await insertOnlyChunks(
    db,
    rows.filter(row => !sentIds.has(row.id) && (freshIds.has(row.id) || !row.complete)),
    byKey,
  )
  return items.map(item => {
    const blob = stored.get(keyOf(item))
    if (!blob) throw vanished()
    const { id, sha256, size } = blob
    return { id, sha256, size, isNew: freshIds.has(id) }
  })
}

/** The rows of these blobs, some of which were there: complete now, and protected from being deleted. */
async function findKnown(db: Db, now: Instant, byKey: ReadonlyMap<string, SmallBlob>): Promise<readonly BlobRow[]> {
  const rows = await selectBlobsByContent(db, [...byKey.values()])
  for (const row of rows) {
    const exists = row.complete ? await renewIfOld(db, now, row) : await updateBlobComplete(db, row.id, now)
    if (!exists) throw vanished()
  }
  return rows
}

/** Inserts the one chunk of each of these blobs; an empty one has none. */
async function insertOnlyChunks(
  db: Db,
  rows: readonly BlobRow[],
  byKey: ReadonlyMap<string, SmallBlob>,
): Promise<void> {
  const chunks = rows.flatMap(row => {
    const bytes = byKey.get(keyOf(keyOfRow(row)))?.bytes
    return bytes && bytes.length > 0 ? [{ blob_id: row.id, position: 0, bytes }] : []
  })
  for (const group of groupBySize(chunks)) await insertChunks(db, group)
}

/** Protects a blob that is stored again from being deleted as unreferenced. False: it has just been deleted. */
async function renewIfOld(db: Db, now: Instant, row: BlobRow): Promise<boolean> {
  return row.created_at >= plusMs(now, -renewAfterMs) || (await updateBlobCreatedAt(db, row.id, now))
}

/** The clean-up deleted a blob between two statements; as a lost lock this makes the whole transaction run again. */
function vanished(): Error {
  return new LockLostError('a blob was deleted while it was stored again')
}

function keyOfRow(row: BlobRow): BlobKey {
  return { organizationId: row.organization_id, sha256: row.sha256 }
}

function keyOf({ organizationId, sha256 }: BlobKey): string {
  return organizationId + sha256.toString('base64')
}

function newRow({ organizationId, sha256 }: BlobKey, size: number, now: Instant): BlobRow {
  return { id: newId('blb'), organization_id: organizationId, sha256, size, complete: 0, created_at: now }
}

function groupBySize(chunks: readonly ChunkRow[]): readonly (readonly ChunkRow[])[] {
  const groups: ChunkRow[][] = []
  let remainingBytes = 0
  for (const chunk of chunks) {
    if (remainingBytes < chunk.bytes.length) {
      groups.push([])
      remainingBytes = maxStatementBytes
    }
    groups.at(-1)?.push(chunk)
    remainingBytes -= chunk.bytes.length + 64
  }
  return groups
}

/**
 * Stores a large blob: a row that is not complete, its chunks a few at a time, then completes the row. Two that store the same
 * bytes at once write the same chunks under the same id; one that died half way is continued where it stopped.
 */
async function stage(
  db: Db,
  clock: Clock,
  organizationId: Id<'org'>,
  content: MessageSource,
  sha256: Buffer | null,
): Promise<StoredBlob> {
  return await withSource(content, async source => {
    const key = { organizationId, sha256: sha256 ?? (await hash(source)) }
    for (let attempt = 1; attempt <= maxTries; attempt++) {
      const row = await findOrInsert(db, clock, key, source.size)
      if (row?.complete) return row
      if (!row) continue
      const stored = await selectChunkPositions(db, row.id)
      const count = Math.ceil(source.size / chunkBytes)
      const missing = Array.from({ length: count }, (_, position) => position).filter(at => !stored.has(at))
      for (let at = 0; at < missing.length; at += stagedTogether) {
        const chunks = missing.slice(at, at + stagedTogether).map(position => ({ blob_id: row.id, position }))
        await insertUnreadChunks(db, chunks, async ({ position }, send) => {
          const bytes = await source.chunk(position)
          await send(bytes)
          source.release(bytes)
        })
      }
      if (await inTransaction(db, tx => updateBlobIfComplete(tx, row.id, count, clock.now()))) return row
    }
    throw new Error(
      `a blob could not be stored: in ${maxTries} attempts another transaction began or deleted it each time`,
    )
  })
}

/** The row of this content, complete or not; undefined when another transaction inserted or deleted it just now. */
async function findOrInsert(db: Db, clock: Clock, key: BlobKey, size: number): Promise<BlobRow | undefined> {
  const now = clock.now()
  const [found] = await selectBlobsByContent(db, [key])
  if (found) return (await renewIfOld(db, now, found)) ? found : undefined
  const row = newRow(key, size, now)
  try {
    await insertBlob(db, row)
    return row
  } catch (error) {
    if (!isDuplicate(error, 'blobs_content')) throw error
    return undefined
  }
}

/** Content, readable chunk by chunk. */
interface ChunkSource {
  readonly size: number
  chunk(position: number): Promise<Buffer>
  /** Nobody uses these bytes any more. */
  release(chunk: Buffer): void
}

async function withSource<Result>(
  content: MessageSource,
  work: (source: ChunkSource) => Promise<Result>,
): Promise<Result> {
  if (content.kind === 'memory') {
    const { bytes } = content
    const at = (position: number) => bytes.subarray(position * chunkBytes, (position + 1) * chunkBytes)
    return await work({ size: bytes.length, chunk: position => Promise.resolve(at(position)), release() {} })
  }
  const file = await open(content.path, 'r')
  try {
    return await work({ size: content.size, chunk: position => readChunk(file, content, position), release: keepSpare })
  } finally {
    await file.close()
  }
}

async function readChunk(file: FileHandle, content: MessageSource, position: number): Promise<Buffer> {
  const start = position * chunkBytes
  const buffer = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(chunkBytes)
  const bytes = buffer.subarray(0, Math.min(chunkBytes, content.size - start))
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled)
    if (bytesRead === 0) throw new Error('a spooled file is shorter than its recorded size')
    filled += bytesRead
  }
  return bytes
}

function keepSpare({ buffer }: Buffer): void {
  if (spareBuffers.length < maxSpareBuffers) spareBuffers.push(Buffer.from(buffer))
}

async function hash(source: ChunkSource): Promise<Buffer> {
  const sha256 = createHash('sha256')
  for (let position = 0; position * chunkBytes < source.size; position++) {
    const chunk = await source.chunk(position)
    sha256.update(chunk)
    source.release(chunk)
  }
  return sha256.digest()
}

async function* readRange(
  db: Db,
  organizationId: Id<'org'>,
  id: Id<'blb'>,
  range: { readonly start?: number; readonly end?: number },
): AsyncGenerator<Buffer> {
  const blob = await selectBlob(db, organizationId, id)
  if (!blob) throw new Error(`there is no blob ${id}`)
  const start = Math.max(range.start ?? 0, 0)
  const end = Math.min(range.end ?? blob.size, blob.size)
  for (let at = start; at < end; ) {
    const position = Math.floor(at / chunkBytes)
    const offset = at - position * chunkBytes
    const bytes = await selectChunk(db, id, position)
    if (!bytes) throw new Error(`the blob ${id} lacks its chunk ${position}`)
    const piece = bytes.subarray(offset, Math.min(bytes.length, offset + end - at))
    yield piece
    at += piece.length
  }
}

/** A blob of an organization. */
interface BlobRef {
  readonly organizationId: Id<'org'>
  readonly id: Id<'blb'>
}

/** The bytes of each blob; undefined where the organization has no such blob. */
async function readAll(db: Db, refs: readonly BlobRef[]): Promise<readonly (Buffer | undefined)[]> {
  const rows = await selectBlobsWithChunks(db, [...new Set(refs.map(ref => ref.id))])
  const byBlob = Map.groupBy(rows, row => row.id)
  return refs.map(({ organizationId, id }) => {
    const own = byBlob.get(id)?.filter(row => row.organization_id === organizationId) ?? []
    const [first] = own
    if (!first) return undefined
    const ordered = own.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0)).flatMap(row => row.bytes ?? [])
    const bytes = ordered.length === 1 && ordered[0] ? ordered[0] : Buffer.concat(ordered)
    if (bytes.length !== first.size) throw new Error(`the blob ${id} is not complete`)
    return bytes
  })
}
