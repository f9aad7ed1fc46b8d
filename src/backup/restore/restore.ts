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
import { resetWatermark } from '../../events/numbering-table.ts'
import { skipSequences } from '../../events/table.ts'
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
  holdOutbox,
  insertRestoredRows,
  selectFilledTables,
  selectKnownBlobs,
} from './table.ts'

/** What to restore, and where to. The backup must have been inspected before. */
export interface RestoreOptions {
  /** With a single connection, so that its session settings apply to all statements. */
  readonly db: Db
  readonly clock: Clock
  readonly folder: string
  readonly manifest: Manifest
  readonly keys: DecryptionKeys
  readonly progress: ProgressReporter
  /** It is only a trial, for which the search index is not rebuilt. */
  readonly isTrial: boolean
}

/** What a restore did. */
export interface RestoreResult {
  /** Recipients whose emails were still to be sent, and are now on hold. */
  readonly heldRecipients: number
  /** API keys that were disabled. */
  readonly disabledKeys: number
  readonly rows: number
}

/**
 * Restores a backup into an empty database, or continues a restore of it that was interrupted: the tables as the version of the
 * backup had them, the rows, the content, the migrations up to this version, the search index. All that was still to be sent is put
 * on hold, all API keys are disabled, and nobody is signed in.
 * @throws CommandError when the database is not empty, a newer version made the backup, or rows are missing afterwards
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { db, clock, manifest } = options
  await prepareTables(options)
  await loadAll(options)
  await compareCounts(db, manifest)
  await migrateUpTo(db, migrationNames.at(-1) ?? '')
  const now = clock.now()
  const heldRecipients = await holdOutbox(db, `Restored from the backup ${manifest.id}`, now)
  const disabledKeys = await disableKeys(db, now)
  await skipSequences(db)
  await resetWatermark(db)
  if (!options.isTrial) await rebuildSearchIndex(db, options.progress)
  await updateRestoreFinished(db, manifest.id, now)
  return {
    heldRecipients,
    disabledKeys,
    rows: manifest.tables.reduce((sum, table) => sum + table.rows, 0),
  }
}

/** @throws CommandError when a newer version made the backup, whose migrations this one does not know */
export function requireKnownVersion({ migrations }: Manifest): void {
  const newer = migrations.filter(migration => !migrationNames.includes(migration))
  if (newer.length > 0)
    throw new CommandError(
      `The backup was made by a newer version of Mailroom, with the migrations ${newer.join(', ')}: restore it with that version.`,
    )
}

/** Checks that the database is empty, or has an interrupted restore of this backup. @throws CommandError when it has anything else */
export async function requireEmptyDatabase(db: Db, { id }: Manifest): Promise<'empty' | 'interrupted'> {
  const restore = await selectRestore(db)
  if (restore?.finished_at === null && restore.id === id) return 'interrupted'
  if (restore?.finished_at === null)
    throw new CommandError(
      `A restore of the backup ${restore.id} into this database was interrupted: run that restore again, or use an empty database.`,
    )
  const { all, filled } = await selectFilledTables(db)
  if (filled.length > 0)
    throw new CommandError(
      `The database is not empty: there are rows in ${filled.join(', ')}. A backup is restored into an empty database: create one, and set MAILROOM_DATABASE_URL to it.`,
    )
  if (all.length > 0 && !all.includes('kysely_migration'))
    throw new CommandError('The database has tables that do not belong to Mailroom: use an empty one.')
  return 'empty'
}

/** Creates the tables as the version of the backup had them, empty. Those of an interrupted restore stay as they are. */
async function prepareTables({ db, clock, manifest }: RestoreOptions): Promise<void> {
  requireKnownVersion(manifest)
  if ((await requireEmptyDatabase(db, manifest)) === 'interrupted') return
  await dropTables(db, (await selectFilledTables(db)).all)
  await migrateUpTo(db, manifest.migrations.at(-1) ?? '')
  await inTransaction(db, async tx => {
    for (const table of manifest.tables) await deleteAllRows(tx, table.name)
    await insertRestore(tx, manifest.id, clock.now())
  })
}

interface RestoreStep {
  readonly file: BackupFile
  /** Reads the file outside any transaction; gives the function that inserts its rows. */
  prepare(): Promise<(tx: Db) => Promise<void>>
}

/** Loads each file in a transaction that also records it, so that an interrupted restore continues with the next file. */
async function loadAll(options: RestoreOptions): Promise<void> {
  const { db, manifest, progress } = options
  const steps = [...tableSteps(options), ...segmentSteps(options)]
  const done = (await selectRestore(db))?.steps_done ?? 0
  for (const [i, step] of steps.entries()) {
    if (i < done) continue
    const load = await step.prepare()
    await inTransaction(db, async tx => {
      await load(tx)
      await updateRestoreStep(tx, manifest.id, i + 1)
    })
    progress.report(`files restored, last ${basename(step.file.name)}`, i + 1, steps.length)
  }
}

function tableSteps({ folder, manifest, keys }: RestoreOptions): readonly RestoreStep[] {
  return manifest.tables.flatMap(table =>
    table.files.map(file => ({
      file,
      async prepare() {
        const lines = await readLines(folder, file, keys)
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

/** A segment may contain blobs that were deleted since, which are left out, and blobs that a later segment contains again. */
function segmentSteps({ folder, manifest, keys, db }: RestoreOptions): readonly RestoreStep[] {
  return manifest.segments.map(file => ({
    file,
    async prepare() {
      const { parts, chunks } = readSegment(await readContent(folder, file, keys))
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
