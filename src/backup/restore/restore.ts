import { basename } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { migrateUpTo, migrationNames } from '../../base/database/migrate.ts'
import {
  insertRestore,
  selectRestore,
  updateRestoreFinished,
  updateRestoreStep,
} from '../../base/database/restores-table.ts'
import { CommandError } from '../../base/operator-error.ts'
import { readContent, readLines } from '../files/read-file.ts'
import type { DecryptionKeys } from '../format/encryption.ts'
import type { BackupFile, Manifest } from '../format/manifest.ts'
import { readRow } from '../format/row.ts'
import { readSegment } from '../format/segment.ts'
import type { ProgressReporter } from '../progress.ts'
import { rebuildSearchIndex } from './rebuild-search-index.ts'
import {
  countRows,
  deleteAllRows,
  disableKeys,
  dropTables,
  insertRestoredRows,
  selectFilledTables,
  selectKnownBlobs,
  suspendOutbox,
} from './table.ts'

/** What is to be restored. All files have been looked into before. */
export interface RestoreOptions {
  /** Of one connection, so that what is set for it holds. */
  readonly db: Db
  readonly clock: Clock
  readonly folder: string
  readonly manifest: Manifest
  readonly opening: DecryptionKeys
  readonly progress: ProgressReporter
  /** Is it for a trial, so that nobody will search in it? */
  readonly isTrial: boolean
}

export interface RestoreResult {
  /** Recipients that wait to be sent to, and are held. */
  readonly suspendedRecipients: number
  /** API keys that are disabled. */
  readonly disabledKeys: number
  readonly rows: number
}

/**
 * Brings a backup up in an empty database, or goes on where it stopped there: the tables as its version had them, the rows,
 * the bytes, the migrations up to this version, the search index. All that waits to be sent is held, and all keys are disabled.
 * @throws CommandError where the database is not empty, the backup is a newer version's, or not all of it came across
 */
export async function restoreBackup(restoring: RestoreOptions): Promise<RestoreResult> {
  const { db, clock, manifest } = restoring
  await prepareTables(restoring)
  await loadAll(restoring)
  await compareCounts(db, manifest)
  await migrateUpTo(db, migrationNames.at(-1) ?? '')
  const now = clock.now()
  const held = await suspendOutbox(db, `Restored from the backup ${manifest.id}`, now)
  const disabled = await disableKeys(db, now)
  if (!restoring.isTrial) await rebuildSearchIndex(db, restoring.progress)
  await updateRestoreFinished(db, manifest.id, now)
  return {
    suspendedRecipients: held,
    disabledKeys: disabled,
    rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
  }
}

/** @throws CommandError where this version does not know the tables of the backup */
export function requireKnownVersion({ migrations }: Manifest): void {
  const newer = migrations.filter(migration => !migrationNames.includes(migration))
  if (newer.length > 0)
    throw new CommandError(
      `The backup was made by a newer version of Mailroom, with the migrations ${newer.join(', ')}: restore it with that version.`,
    )
}

/** May this backup be restored here, and is that begun already? @throws CommandError where the database holds anything else */
export async function requireEmptyDatabase(db: Db, { id }: Manifest): Promise<'empty' | 'begun'> {
  const begun = await selectRestore(db)
  if (begun?.finished_at === null && begun.id === id) return 'begun'
  if (begun?.finished_at === null)
    throw new CommandError(
      `A restore of the backup ${begun.id} into this database did not come to its end: go on with that one, or take an empty database.`,
    )
  const { all, filled } = await selectFilledTables(db)
  if (filled.length > 0)
    throw new CommandError(
      `The database is not empty: there are rows in ${filled.join(', ')}. A backup is restored into an empty one: CREATE DATABASE, and name it in MAILROOM_DATABASE_URL.`,
    )
  if (all.length > 0 && !all.includes('kysely_migration'))
    throw new CommandError('The database holds tables that are not Mailroom’s: take an empty one.')
  return 'empty'
}

/** The tables as the backup's version had them, with nothing in them; those of a restore that stopped stay as they are. */
async function prepareTables({ db, clock, manifest }: RestoreOptions): Promise<void> {
  requireKnownVersion(manifest)
  if ((await requireEmptyDatabase(db, manifest)) === 'begun') return
  await dropTables(db, (await selectFilledTables(db)).all)
  await migrateUpTo(db, manifest.migrations.at(-1) ?? '')
  await inTransaction(db, async tx => {
    for (const table of manifest.tables) await deleteAllRows(tx, table.name)
    await insertRestore(tx, manifest.id, clock.now())
  })
}

interface RestoreStep {
  readonly file: BackupFile
  /** Reads the file, outside any transaction, and gives what loads it. */
  prepare(): Promise<(tx: Db) => Promise<void>>
}

/** Each file is loaded in a transaction that notes it: a restore that was killed goes on with the next. */
async function loadAll(restoring: RestoreOptions): Promise<void> {
  const { db, manifest, progress } = restoring
  const steps = [...tableSteps(restoring), ...segmentSteps(restoring)]
  const done = (await selectRestore(db))?.steps_done ?? 0
  for (const [i, step] of steps.entries()) {
    if (i < done) continue
    const load = await step.prepare()
    await inTransaction(db, async tx => {
      await load(tx)
      await updateRestoreStep(tx, manifest.id, i + 1)
    })
    progress.report(`restored, the last of them ${basename(step.file.name)}: files`, i + 1, steps.length)
  }
}

function tableSteps({ folder, manifest, opening }: RestoreOptions): readonly RestoreStep[] {
  return manifest.tables.flatMap(table =>
    table.files.map(file => ({
      file,
      async prepare() {
        const lines = await readLines(folder, file, opening)
        const rows = lines.map(line => readRow(table.columns, line))
        return (tx: Db) => insertRestoredRows(tx, table.name, table.columns, rows)
      },
    })),
  )
}

const chunkColumns = [
  { name: 'blob_id', isBinary: false },
  { name: 'position', isBinary: false },
  { name: 'bytes', isBinary: true },
]

/** A segment may hold blobs that were deleted since it was written: those stay out; and some that were copied again later. */
function segmentSteps({ folder, manifest, opening, db }: RestoreOptions): readonly RestoreStep[] {
  return manifest.segments.map(file => ({
    file,
    async prepare() {
      const { parts, chunks } = readSegment(await readContent(folder, file, opening))
      const known = await selectKnownBlobs(db, [...new Set(parts.map(part => part.blob))])
      const rows = chunks
        .filter(chunk => known.has(chunk.part.blob))
        .map(({ part, position, bytes }) => [part.blob, position, bytes])
      return (tx: Db) => insertRestoredRows(tx, 'blob_chunks', chunkColumns, rows, true)
    },
  }))
}

async function compareCounts(db: Db, { tables }: Manifest): Promise<void> {
  for (const { name, rows } of tables) {
    const count = await countRows(db, name)
    if (count !== rows)
      throw new CommandError(`The table ${name} has ${count} rows after the restore; the backup has ${rows}.`)
  }
}
