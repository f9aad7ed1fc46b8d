import { createHash, type Hash } from 'node:crypto'
import type { Db } from '../../base/database/database.ts'
import { type BlobChunk, selectLargeBlob, selectSmallBlobs } from '../blob-chunks-table.ts'
import { backupFolder, segmentName } from '../files/names.ts'
import type { BackupSink } from '../files/sink.ts'
import { openLineFiles, packedName, writePackedFile } from '../files/write-file.ts'
import { writeCatalogEntry } from '../format/catalog.ts'
import type { Encryption } from '../format/encryption.ts'
import type { BackupFile } from '../format/manifest.ts'
import { type SegmentPart, writeSegment } from '../format/segment.ts'
import type { ProgressReporter } from '../progress.ts'
import type { SpooledBlob } from './blob-spool.ts'
import type { Throttle } from './throttle.ts'

/** What copying blobs depends on. */
export interface CopyBlobsDeps {
  readonly id: string
  readonly sink: BackupSink
  readonly encryption: Encryption
  readonly throttle: Throttle
  readonly progress: ProgressReporter
  /** @throws when the backup must stop */
  readonly requireActive: () => void
}

/** The blobs in a backup. */
export interface CopiedBlobs {
  readonly catalog: readonly BackupFile[]
  /** The segments that this backup wrote, in order. */
  readonly segments: readonly BackupFile[]
  /** The names of the segments of earlier backups that contain some of the blobs. */
  readonly reusedSegments: ReadonlySet<string>
  readonly count: number
  /** How many of them this backup copied. */
  readonly copied: number
  /** The ids of those whose content is missing or wrong in the database. */
  readonly damaged: readonly string[]
}

type NewBlob = Extract<SpooledBlob, { readonly size: number }>

/** Blobs are copied in batches of so many blobs and bytes. */
const batchBlobs = 256
const batchBytes = 4 * 1024 * 1024

/** Copies the blobs that no earlier backup has into segments, and writes the catalog of all blobs. */
export async function copyBlobs(db: Db, blobs: AsyncIterable<SpooledBlob>, deps: CopyBlobsDeps): Promise<CopiedBlobs> {
  const writer = openSegmentWriter(deps)
  const catalog = openLineFiles(deps.sink, `${backupFolder(deps.id)}/catalog`, { kind: 'none' })
  const reusedSegments = new Set<string>()
  const damaged: string[] = []
  let count = 0
  let copied = 0
  for await (const batch of inBatches(blobs)) {
    deps.requireActive()
    const newBlobs = batch.filter(isNew)
    const chunks = await selectSmallBlobs(db, newBlobs)
    for (const blob of batch) {
      let segments: readonly string[]
      if (isNew(blob)) {
        const copy = await copyBlob(writer, blob, chunks.get(blob.id) ?? selectLargeBlob(db, blob))
        segments = copy.segments
        copied++
        if (!copy.isWhole) damaged.push(blob.id)
      } else {
        segments = blob.segments
        for (const segment of segments) reusedSegments.add(segment)
      }
      await catalog.add(writeCatalogEntry([blob.id, segments]))
    }
    count += batch.length
    deps.progress.report('blobs', count)
    if (newBlobs.length > 0) await deps.throttle.pause()
  }
  return { catalog: await catalog.end(), segments: await writer.end(), reusedSegments, count, copied, damaged }
}

function isNew(blob: SpooledBlob): blob is NewBlob {
  return 'size' in blob
}

async function* inBatches(blobs: AsyncIterable<SpooledBlob>): AsyncGenerator<readonly SpooledBlob[]> {
  let batch: SpooledBlob[] = []
  let bytes = 0
  for await (const blob of blobs) {
    batch.push(blob)
    if (isNew(blob)) bytes += blob.size
    if (batch.length < batchBlobs && bytes < batchBytes) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function copyBlob(
  writer: SegmentWriter,
  { id, size, sha256 }: NewBlob,
  chunks: Iterable<BlobChunk> | AsyncIterable<BlobChunk>,
): Promise<{ readonly segments: readonly string[]; readonly isWhole: boolean }> {
  const hash: Hash = createHash('sha256')
  const segments = new Set<string>()
  for await (const { position, bytes } of chunks) {
    hash.update(bytes)
    segments.add(await writer.add({ blob: id, sha256, size }, position, bytes))
  }
  if (size === 0) segments.add(await writer.add({ blob: id, sha256, size }))
  return { segments: [...segments], isWhole: hash.digest('hex') === sha256 }
}

/** The size of a segment before compression, in bytes. */
const segmentBytes = 16 * 1024 * 1024

interface SegmentWriter {
  /** Adds a chunk, or an empty blob without one; gives the name of the segment that will contain it. */
  add(blob: Omit<SegmentPart, 'chunks'>, position?: number, bytes?: Buffer): Promise<string>
  end(): Promise<readonly BackupFile[]>
}

function openSegmentWriter({ id, sink, encryption }: CopyBlobsDeps): SegmentWriter {
  const files: BackupFile[] = []
  let parts: (Omit<SegmentPart, 'chunks'> & { chunks: [number, number][] })[] = []
  let chunks: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    if (parts.length === 0) return
    const content = writeSegment(parts, chunks)
    parts = []
    chunks = []
    bytes = 0
    files.push(await writePackedFile(sink, segmentName(id, files.length + 1), content, encryption))
  }
  return {
    async add(blob, position, chunk) {
      if (bytes >= segmentBytes) await flush()
      if (parts.at(-1)?.blob !== blob.blob) parts.push({ ...blob, chunks: [] })
      if (position !== undefined && chunk) {
        parts.at(-1)?.chunks.push([position, chunk.length])
        chunks.push(chunk)
        bytes += chunk.length
      }
      return packedName(segmentName(id, files.length + 1), encryption)
    },
    async end() {
      await flush()
      return files
    },
  }
}
