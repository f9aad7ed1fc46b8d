import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type Db, openDatabase } from '../../base/database/database.ts'
import { CommandError } from '../../base/operator-error.ts'
import { selectLargeBlob, selectSmallBlobs } from '../blob-chunks-table.ts'
import type { DecryptionKeys } from '../format/encryption.ts'
import type { Manifest } from '../format/manifest.ts'
import type { ProgressReporter } from '../progress.ts'
import { restoreBackup } from '../restore/restore.ts'
import {
  countRowsWithoutBlob,
  createDatabase,
  dropDatabase,
  dropTables,
  lockDatabaseName,
  selectBlobsAfter,
  selectDatabaseName,
  selectDatabases,
  selectFilledTables,
} from '../restore/table.ts'

/** What a trial of a restore needs. */
export interface TrialRestoreOptions {
  readonly folder: string
  readonly manifest: Manifest
  readonly opening: DecryptionKeys
  readonly clock: Clock
  readonly progress: ProgressReporter
  /** The live database, beside which the scratch one is made. */
  readonly databaseUrl: string
  /** An empty database for the trial; undefined: one of its own is made on the same server. */
  readonly scratchUrl: string | undefined
}

const blobsPerBatch = 64

/**
 * Restores a backup for a trial and compares: the rows of each table, each blob with its hash, each message and email with
 * its bytes. What was made for it is dropped. Gives a sentence for each thing that is wrong.
 */
export async function runTrialRestore(trial: TrialRestoreOptions): Promise<readonly string[]> {
  const { scratchUrl } = trial
  if (scratchUrl === undefined)
    return await withScratchDatabase(trial.databaseUrl, url => restoreAndCompare(url, trial))
  const wrong = await restoreAndCompare(scratchUrl, trial)
  await dropAllTables(scratchUrl)
  return wrong
}

async function restoreAndCompare(url: string, trial: TrialRestoreOptions): Promise<readonly string[]> {
  const { db, close } = openDatabase(url, 1)
  try {
    await restoreBackup({ ...trial, db, isTrial: true })
    const broken = await Promise.all(
      (['messages', 'emails'] as const).map(async table => ({ table, count: await countRowsWithoutBlob(db, table) })),
    )
    return [
      ...broken.filter(each => each.count > 0).map(({ table, count }) => `${count} rows of ${table} have no bytes`),
      ...(await compareBlobs(db, trial)),
    ]
  } finally {
    await close()
  }
}

/** The blobs that do not hold the bytes of their hash. */
async function compareBlobs(db: Db, { manifest, progress }: TrialRestoreOptions): Promise<readonly string[]> {
  const known = new Set(manifest.damaged_blobs)
  const wrong: string[] = []
  let count = 0
  for (let after = ''; ; ) {
    const blobs = await selectBlobsAfter(db, after, blobsPerBatch)
    const small = await selectSmallBlobs(db, blobs)
    for (const blob of blobs) {
      const hash = createHash('sha256')
      for await (const chunk of small.get(blob.id) ?? selectLargeBlob(db, blob)) hash.update(chunk.bytes)
      if (!hash.digest().equals(blob.sha256) && !known.has(blob.id))
        wrong.push(`the blob ${blob.id} does not have the bytes of its hash after the restore`)
    }
    count += blobs.length
    progress.report('blobs compared', count, manifest.blobs)
    if (blobs.length < blobsPerBatch) break
    after = blobs.at(-1)?.id ?? after
  }
  return count === manifest.blobs
    ? wrong
    : [...wrong, `there are ${count} blobs after the restore; the backup has ${manifest.blobs}`]
}

/** Makes a database beside the live one and drops it afterwards, with those that a trial left that was killed. */
async function withScratchDatabase<Result>(liveUrl: string, work: (url: string) => Promise<Result>): Promise<Result> {
  const { db, close } = openDatabase(liveUrl, 1)
  try {
    const prefix = `${(await selectDatabaseName(db)).slice(0, 40)}_verify_`
    for (const left of await selectDatabases(db, prefix))
      if (/^[0-9a-f]{12}$/.test(left.slice(prefix.length)) && (await lockDatabaseName(db, left)))
        await dropDatabase(db, left)
    const name = `${prefix}${randomBytes(6).toString('hex')}`
    await lockDatabaseName(db, name)
    await createDatabase(db, name).catch((error: Error) => {
      throw new CommandError(
        `No database could be made for the trial (${error.message}): let the account make those named ${prefix}…, or name an empty one with --database-url.`,
      )
    })
    try {
      const url = new URL(liveUrl)
      url.pathname = `/${name}`
      return await work(url.href)
    } finally {
      await dropDatabase(db, name)
    }
  } finally {
    await close()
  }
}

async function dropAllTables(url: string): Promise<void> {
  const { db, close } = openDatabase(url, 1)
  try {
    await dropTables(db, (await selectFilledTables(db)).all)
  } finally {
    await close()
  }
}
