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

/** What a trial restore depends on. */
export interface TrialRestoreOptions {
  readonly folder: string
  readonly manifest: Manifest
  readonly keys: DecryptionKeys
  readonly clock: Clock
  readonly progress: ProgressReporter
  /** The live database, on whose server the scratch database is created. */
  readonly databaseUrl: string
  /** An empty database for the trial; undefined: one is created on the server of the live database. */
  readonly scratchUrl: string | undefined
}

const blobsPerBatch = 64

/**
 * Restores a backup into a scratch database and checks the number of rows of each table, the content of each blob against its hash,
 * and that each message and email has its content. Gives a sentence for each problem. The scratch database is dropped, or emptied
 * if it was given.
 */
export async function runTrialRestore(trial: TrialRestoreOptions): Promise<readonly string[]> {
  const { scratchUrl } = trial
  if (scratchUrl === undefined)
    return await withScratchDatabase(trial.databaseUrl, url => restoreAndCompare(url, trial))
  const problems = await restoreAndCompare(scratchUrl, trial)
  await dropAllTables(scratchUrl)
  return problems
}

async function restoreAndCompare(url: string, trial: TrialRestoreOptions): Promise<readonly string[]> {
  const { db, close } = openDatabase(url, 1)
  try {
    await restoreBackup({ ...trial, db, isTrial: true })
    const counts = await Promise.all(
      (['messages', 'emails'] as const).map(async table => ({ table, count: await countRowsWithoutBlob(db, table) })),
    )
    return [
      ...counts.filter(({ count }) => count > 0).map(({ table, count }) => `${count} rows of ${table} have no content`),
      ...(await compareBlobs(db, trial)),
    ]
  } finally {
    await close()
  }
}

/** A sentence for each blob without the content of its hash. */
async function compareBlobs(db: Db, { manifest, progress }: TrialRestoreOptions): Promise<readonly string[]> {
  const damagedBefore = new Set(manifest.damaged_blobs)
  const problems: string[] = []
  let count = 0
  for (let after = ''; ; ) {
    const blobs = await selectBlobsAfter(db, after, blobsPerBatch)
    const small = await selectSmallBlobs(db, blobs)
    for (const blob of blobs) {
      const hash = createHash('sha256')
      for await (const chunk of small.get(blob.id) ?? selectLargeBlob(db, blob)) hash.update(chunk.bytes)
      if (!hash.digest().equals(blob.sha256) && !damagedBefore.has(blob.id))
        problems.push(`the blob ${blob.id} does not have the content of its hash after the restore`)
    }
    count += blobs.length
    progress.report('blobs compared', count, manifest.blobs)
    if (blobs.length < blobsPerBatch) break
    after = blobs.at(-1)?.id ?? after
  }
  return count === manifest.blobs
    ? problems
    : [...problems, `there are ${count} blobs after the restore; the backup has ${manifest.blobs}`]
}

/** Creates a database on the same server and drops it afterwards; also drops those that killed trials left behind. */
async function withScratchDatabase<Result>(liveUrl: string, work: (url: string) => Promise<Result>): Promise<Result> {
  const { db, close } = openDatabase(liveUrl, 1)
  try {
    const prefix = `${(await selectDatabaseName(db)).slice(0, 40)}_verify_`
    for (const leftover of await selectDatabases(db, prefix))
      if (/^[0-9a-f]{12}$/.test(leftover.slice(prefix.length)) && (await lockDatabaseName(db, leftover)))
        await dropDatabase(db, leftover)
    const name = `${prefix}${randomBytes(6).toString('hex')}`
    await lockDatabaseName(db, name)
    await createDatabase(db, name).catch((error: Error) => {
      throw new CommandError(
        `The database for the trial restore could not be created (${error.message}): let the account create databases named ${prefix}…, or give an empty one with --database-url.`,
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
