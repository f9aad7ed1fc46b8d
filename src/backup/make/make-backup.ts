import { type Clock, millisecondsOf, toIso } from '../../base/clock.ts'
import { recordBackup } from '../../base/database/backup-runs-table.ts'
import { type Db, openDatabase } from '../../base/database/database.ts'
import { newSortableToken } from '../../base/ids.ts'
import { cleanFolder, folderSink } from '../files/folder.ts'
import { folderOf, putPacked, type Sink } from '../files/sink.ts'
import { tarSink } from '../files/tar.ts'
import type { Encryption } from '../format/encryption.ts'
import { backupId, bytesOf, filesOf, type Manifest, writeManifest } from '../format/manifest.ts'
import type { Progress } from '../progress.ts'
import { takeLease } from './backup-lease.ts'
import { type BlobSpool, openSpool } from './blob-spool.ts'
import { copyBlobs } from './copy-blobs.ts'
import { copyTables } from './copy-tables.ts'
import { nothingFound, openEarlier } from './earlier-backup.ts'
import { beginSnapshot, endSnapshot, selectSecretKeys } from './snapshot-table.ts'
import { paceOf } from './throttle.ts'

/** What is to be backed up, and how. */
export interface Backing {
  readonly databaseUrl: string
  readonly clock: Clock
  readonly to: { readonly folder: string } | { readonly stream: NodeJS.WritableStream }
  readonly encryption: Encryption
  /** The secret key, in base64, where the backup is to hold it. */
  readonly secretKey: string | null
  /** Copy all blobs anew, also those that an earlier backup has. */
  readonly isFull: boolean
  /** The part of the time that it works: the rest is for the mail. */
  readonly share: number
  readonly progress: Progress
  /** Fires when it is to end before it is done. */
  readonly signal: AbortSignal
}

export interface Made {
  readonly manifest: Manifest
  readonly seconds: number
  /** How long the tables were read for: meanwhile the server keeps old versions of rows. */
  readonly snapshotSeconds: number
  readonly bytes: number
  readonly newBytes: number
  /** Copied by this backup, of all. */
  readonly newBlobs: number
}

/** Makes a backup while mail flows. What it began is taken away again when it fails. */
export async function makeBackup(backing: Backing): Promise<Made> {
  const { clock, databaseUrl, to } = backing
  const startedAt = clock.now()
  const id = backupId(toIso(startedAt), newSortableToken())
  const lease = await takeLease(databaseUrl, id, clock)
  const { db, close } = openDatabase(databaseUrl, 1)
  const spool = openSpool()
  const sink = 'folder' in to ? folderSink(to.folder, id) : tarSink(id, to.stream)
  const check = () => {
    backing.signal.throwIfAborted()
    lease.check()
  }
  try {
    if ('folder' in to) await cleanFolder(to.folder)
    const made = await write(sink, () => copy(db, { ...backing, id, sink, spool, check }), check)
    const finishedAt = clock.now()
    const seconds = (millisecondsOf(finishedAt) - millisecondsOf(startedAt)) / 1000
    await recordBackup(db, { id, startedAt, finishedAt, seconds, bytes: made.bytes, newBytes: made.newBytes })
    return { ...made, seconds }
  } finally {
    spool.close()
    await lease.end()
    await close()
  }
}

type Written = Omit<Made, 'seconds'>

/** Writes all of it, or leaves nothing of it. */
async function write(sink: Sink, work: () => Promise<Written>, check: () => void): Promise<Written> {
  try {
    const made = await work()
    check()
    await sink.finish(writeManifest(made.manifest))
    return made
  } catch (error) {
    await sink.abandon()
    throw error
  }
}

interface Copying extends Backing {
  readonly id: string
  readonly sink: Sink
  readonly spool: BlobSpool
  readonly check: () => void
}

async function copy(db: Db, copying: Copying): Promise<Written> {
  const { id, to, encryption, secretKey, isFull, share, sink, spool, check, clock } = copying
  const earlier = 'folder' in to && !isFull ? await openEarlier(to.folder, encryption) : nothingFound
  const use = { ...copying, pace: paceOf(share) }
  const began = performance.now()
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
    ...(await copyTables(snapshot, { ...use, onBlob })),
    secret_keys: await selectSecretKeys(snapshot),
  }))
  const snapshotSeconds = (performance.now() - began) / 1000
  check()
  const blobs = await copyBlobs(db, spool.read(), use)
  const secret_key = secretKey
    ? await putPacked(sink, `${folderOf(id)}/secret.key`, Buffer.from(`${secretKey}\n`), encryption)
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
    segments: [...earlier.segments.filter(each => blobs.kept.has(each.name)), ...blobs.segments],
    new_segments: blobs.segments.length,
    secret_keys,
    secret_key,
    damaged_blobs: blobs.damaged,
  }
  const bytes = bytesOf(filesOf(manifest))
  const keptBytes = bytesOf(manifest.segments) - bytesOf(blobs.segments)
  return { manifest, snapshotSeconds, bytes, newBytes: bytes - keptBytes, newBlobs: blobs.copied }
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
