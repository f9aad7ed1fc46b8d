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

/** What copying blobs needs. */
export interface CopyBlobsDeps {
  readonly id: string
  readonly sink: BackupSink
  readonly encryption: Encryption
  readonly throttle: Throttle
  readonly progress: ProgressReporter
  /** @throws when the backup is to end */
  readonly requireActive: () => void
}

export interface CopiedBlobs {
  readonly catalog: readonly BackupFile[]
  /** Those that this backup wrote, in order. */
  readonly segments: readonly BackupFile[]
  /** The names of earlier ones that it has a part in. */
  readonly reusedSegments: ReadonlySet<string>
  readonly count: number
  readonly copied: number
  /** Whose bytes are not there, or not what they should be. */
  readonly damaged: readonly string[]
}

type NewBlob = Extract<SpooledBlob, { readonly size: number }>

/** Blobs are read some at a time, up to so many and so many bytes; one that is larger is read by chunks. */
const batchBlobs = 256
const batchBytes = 4 * 1024 * 1024

/** Copies the blobs that no earlier backup has into segments, and writes where each of all blobs is. */
export async function copyBlobs(db: Db, blobs: AsyncIterable<SpooledBlob>, deps: CopyBlobsDeps): Promise<CopiedBlobs> {
  const writer = segmentWriter(deps)
  const catalog = openLineFiles(deps.sink, `${backupFolder(deps.id)}/catalog`, { kind: 'none' })
  const kept = new Set<string>()
  const damaged: string[] = []
  let count = 0
  let copied = 0
  for await (const group of inBatches(blobs)) {
    deps.requireActive()
    const fresh = group.filter(isNew)
    const chunks = await selectSmallBlobs(db, fresh)
    for (const blob of group) {
      let segments: readonly string[]
      if (isNew(blob)) {
        const copy = await copyBlob(writer, blob, chunks.get(blob.id) ?? selectLargeBlob(db, blob))
        segments = copy.segments
        copied++
        if (!copy.isWhole) damaged.push(blob.id)
      } else {
        segments = blob.segments
        for (const segment of segments) kept.add(segment)
      }
      await catalog.add(writeCatalogEntry([blob.id, segments]))
    }
    count += group.length
    deps.progress.report('blobs', count)
    if (fresh.length > 0) await deps.throttle.pause()
  }
  return { catalog: await catalog.end(), segments: await writer.end(), reusedSegments: kept, count, copied, damaged }
}

function isNew(blob: SpooledBlob): blob is NewBlob {
  return 'size' in blob
}

async function* inBatches(blobs: AsyncIterable<SpooledBlob>): AsyncGenerator<readonly SpooledBlob[]> {
  let group: SpooledBlob[] = []
  let bytes = 0
  for await (const blob of blobs) {
    group.push(blob)
    if (isNew(blob)) bytes += blob.size
    if (group.length < batchBlobs && bytes < batchBytes) continue
    yield group
    group = []
    bytes = 0
  }
  if (group.length > 0) yield group
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

/** Bytes of a segment, before it is compressed. */
const segmentBytes = 16 * 1024 * 1024

interface SegmentWriter {
  /** Adds a chunk (none: the blob is empty) and gives the name of the segment that it will be in. */
  add(blob: Omit<SegmentPart, 'chunks'>, position?: number, bytes?: Buffer): Promise<string>
  end(): Promise<readonly BackupFile[]>
}

function segmentWriter({ id, sink, encryption }: CopyBlobsDeps): SegmentWriter {
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
