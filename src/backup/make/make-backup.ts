import { type Clock, millisecondsOf, toIso } from '../../base/clock.ts'
import { insertCompletedBackup } from '../../base/database/backup-runs-table.ts'
import { type Db, openDatabase } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { cleanFolder, folderSink } from '../files/folder.ts'
import { backupFolder } from '../files/names.ts'
import type { BackupSink } from '../files/sink.ts'
import { tarSink } from '../files/tar.ts'
import { writePackedFile } from '../files/write-file.ts'
import type { Encryption } from '../format/encryption.ts'
import { createBackupId, type Manifest, manifestFiles, totalBytes, writeManifest } from '../format/manifest.ts'
import type { ProgressReporter } from '../progress.ts'
import { acquireBackupLease } from './backup-lease.ts'
import { type BlobSpool, openBlobSpool } from './blob-spool.ts'
import { copyBlobs } from './copy-blobs.ts'
import { copyTables } from './copy-tables.ts'
import { noEarlierBackup, openEarlierBackup } from './earlier-backup.ts'
import { beginSnapshot, endSnapshot, selectSecretKeys } from './snapshot-table.ts'
import { createThrottle } from './throttle.ts'

/** What to back up, where to, and how. */
export interface BackupOptions {
  readonly databaseUrl: string
  readonly clock: Clock
  readonly to: { readonly folder: string } | { readonly stream: NodeJS.WritableStream }
  readonly encryption: Encryption
  /** The secret key, in base64; null: it is not included in the backup. */
  readonly secretKey: string | null
  /** Copies all blobs, also those that an earlier backup has. */
  readonly isFull: boolean
  /** The share of the time in which it works, above 0, up to 1; the rest is left to the mail. */
  readonly share: number
  readonly progress: ProgressReporter
  /** Aborts the backup. */
  readonly signal: AbortSignal
}

/** A backup that was made. */
export interface BackupResult {
  readonly manifest: Manifest
  readonly seconds: number
  /** How long the snapshot was open, during which the server keeps old versions of rows. */
  readonly snapshotSeconds: number
  readonly bytes: number
  readonly newBytes: number
  /** How many blobs this backup copied. */
  readonly newBlobs: number
}

/** Makes a backup while Mailroom serves. When it fails, what it wrote is removed. */
export async function makeBackup(options: BackupOptions): Promise<BackupResult> {
  const { clock, databaseUrl, to } = options
  const startedAt = clock.now()
  const id = createBackupId(toIso(startedAt), newSortableToken())
  const lease = await acquireBackupLease(databaseUrl, id, clock)
  const { db, close } = openDatabase(databaseUrl, 1)
  const spool = openBlobSpool()
  const sink = 'folder' in to ? folderSink(to.folder, id) : tarSink(id, to.stream)
  const requireActive = () => {
    options.signal.throwIfAborted()
    lease.requireValid()
  }
  try {
    if ('folder' in to) await cleanFolder(to.folder)
    const copied = await writeOrAbandon(
      sink,
      () => copyDatabase(db, { ...options, id, sink, spool, requireActive }),
      requireActive,
    )
    const finishedAt = clock.now()
    const seconds = (millisecondsOf(finishedAt) - millisecondsOf(startedAt)) / 1000
    await insertCompletedBackup(db, {
      id,
      startedAt,
      finishedAt,
      seconds,
      bytes: copied.bytes,
      newBytes: copied.newBytes,
    })
    return { ...copied, seconds }
  } finally {
    spool.close()
    await lease.release()
    await close()
  }
}

type CopiedDatabase = Omit<BackupResult, 'seconds'>

/** Completes the backup with its manifest, or removes what was written. */
async function writeOrAbandon(
  sink: BackupSink,
  work: () => Promise<CopiedDatabase>,
  requireActive: () => void,
): Promise<CopiedDatabase> {
  try {
    const copied = await work()
    requireActive()
    await sink.finish(writeManifest(copied.manifest))
    return copied
  } catch (error) {
    await sink.abandon()
    throw error
  }
}

interface CopyDatabaseDeps extends BackupOptions {
  readonly id: string
  readonly sink: BackupSink
  readonly spool: BlobSpool
  readonly requireActive: () => void
}

async function copyDatabase(db: Db, options: CopyDatabaseDeps): Promise<CopiedDatabase> {
  const { id, to, encryption, secretKey, isFull, share, sink, spool, requireActive, clock } = options
  const earlier = 'folder' in to && !isFull ? await openEarlierBackup(to.folder, encryption) : noEarlierBackup
  const deps = { ...options, throttle: createThrottle(share) }
  const start = performance.now()
  const taken_at = toIso(clock.now())
  const onBlob = async (row: Readonly<Record<string, unknown>>) => {
    const blob = row as { readonly id: string; readonly size: string; readonly sha256: Buffer }
    const segments = await earlier.blobs.segmentsOf(blob.id)
    const { id: blobId } = blob
    await spool.add(
      segments
        ? { id: blobId, segments }
        : { id: blobId, size: Number(blob.size), sha256: blob.sha256.toString('hex') },
    )
  }
  const { migrations, tables, secret_keys } = await inSnapshot(db, async snapshot => ({
    ...(await copyTables(snapshot, { ...deps, onBlob })),
    secret_keys: await selectSecretKeys(snapshot),
  }))
  const snapshotSeconds = (performance.now() - start) / 1000
  requireActive()
  const blobs = await copyBlobs(db, spool.read(), deps)
  const secret_key = secretKey
    ? await writePackedFile(sink, `${backupFolder(id)}/secret.key`, Buffer.from(`${secretKey}\n`), encryption)
    : null
  const manifest: Manifest = {
    format: 1,
    id,
    taken_at,
    migrations,
    encryption,
    tables,
    catalog: blobs.catalog,
    blobs: blobs.count,
    segments: [...earlier.segments.filter(segment => blobs.reusedSegments.has(segment.name)), ...blobs.segments],
    new_segments: blobs.segments.length,
    secret_keys,
    secret_key,
    damaged_blobs: blobs.damaged,
  }
  const bytes = totalBytes(manifestFiles(manifest))
  const reusedBytes = totalBytes(manifest.segments) - totalBytes(blobs.segments)
  return { manifest, snapshotSeconds, bytes, newBytes: bytes - reusedBytes, newBlobs: blobs.copied }
}

async function inSnapshot<Result>(db: Db, work: (snapshot: Db) => Promise<Result>): Promise<Result> {
  return await db.connection().execute(async connection => {
    await beginSnapshot(connection)
    try {
      return await work(connection)
    } finally {
      await endSnapshot(connection)
    }
  })
}
