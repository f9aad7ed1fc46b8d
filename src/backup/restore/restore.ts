import { basename } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { migrateUpTo, migrationNames } from '../../base/database/migrate.ts'
import { beginRestore, finishRestore, noteStep, selectRestore } from '../../base/database/restores-table.ts'
import { CommandTrouble } from '../../base/operator-error.ts'
import { readContent, readLines } from '../files/read.ts'
import type { Opening } from '../format/encryption.ts'
import type { BackupFile, Manifest } from '../format/manifest.ts'
import { readRow } from '../format/row.ts'
import { readSegment } from '../format/segment.ts'
import type { Progress } from '../progress.ts'
import { indexAgain } from './reindex.ts'
import {
  countRows,
  deleteAll,
  disableKeys,
  dropTables,
  holdOutbox,
  insertLoaded,
  selectFilled,
  selectKnownBlobs,
} from './table.ts'

/** What is to be restored. All files have been looked into before. */
export interface Restoring {
  /** Of one connection, so that what is set for it holds. */
  readonly db: Db
  readonly clock: Clock
  readonly folder: string
  readonly manifest: Manifest
  readonly opening: Opening
  readonly progress: Progress
  /** Is it for a trial, so that nobody will search in it? */
  readonly isTrial: boolean
}

export interface Restored {
  /** Recipients that wait to be sent to, and are held. */
  readonly held: number
  /** API keys that are disabled. */
  readonly disabled: number
  readonly rows: number
}

/**
 * Brings a backup up in an empty database, or goes on where it stopped there: the tables as its version had them, the rows,
 * the bytes, the migrations up to this version, the search index. All that waits to be sent is held, and all keys are disabled.
 * @throws CommandTrouble where the database is not empty, the backup is a newer version's, or not all of it came across
 */
export async function restoreBackup(restoring: Restoring): Promise<Restored> {
  const { db, clock, manifest } = restoring
  await prepareTables(restoring)
  await loadAll(restoring)
  await compareCounts(db, manifest)
  await migrateUpTo(db, migrationNames.at(-1) ?? '')
  const now = clock.now()
  const held = await holdOutbox(db, `Restored from the backup ${manifest.id}`, now)
  const disabled = await disableKeys(db, now)
  if (!restoring.isTrial) await indexAgain(db, restoring.progress)
  await finishRestore(db, manifest.id, now)
  return { held, disabled, rows: manifest.tables.reduce((sum, each) => sum + each.rows, 0) }
}

/** @throws CommandTrouble where this version does not know the tables of the backup */
export function requireKnownVersion({ migrations }: Manifest): void {
  const newer = migrations.filter(each => !migrationNames.includes(each))
  if (newer.length > 0)
    throw new CommandTrouble(
      `The backup was made by a newer version of Mailroom, with the migrations ${newer.join(', ')}: restore it with that version.`,
    )
}

/** May this backup be restored here, and is that begun already? @throws CommandTrouble where the database holds anything else */
export async function requireRoom(db: Db, { id }: Manifest): Promise<'empty' | 'begun'> {
  const begun = await selectRestore(db)
  if (begun?.finished_at === null && begun.id === id) return 'begun'
  if (begun?.finished_at === null)
    throw new CommandTrouble(
      `A restore of the backup ${begun.id} into this database did not come to its end: go on with that one, or take an empty database.`,
    )
  const { all, filled } = await selectFilled(db)
  if (filled.length > 0)
    throw new CommandTrouble(
      `The database is not empty: there are rows in ${filled.join(', ')}. A backup is restored into an empty one: CREATE DATABASE, and name it in MAILROOM_DATABASE_URL.`,
    )
  if (all.length > 0 && !all.includes('kysely_migration'))
    throw new CommandTrouble('The database holds tables that are not Mailroom’s: take an empty one.')
  return 'empty'
}

/** The tables as the backup's version had them, with nothing in them; those of a restore that stopped stay as they are. */
async function prepareTables({ db, clock, manifest }: Restoring): Promise<void> {
  requireKnownVersion(manifest)
  if ((await requireRoom(db, manifest)) === 'begun') return
  await dropTables(db, (await selectFilled(db)).all)
  await migrateUpTo(db, manifest.migrations.at(-1) ?? '')
  await inTransaction(db, async tx => {
    for (const table of manifest.tables) await deleteAll(tx, table.name)
    await beginRestore(tx, manifest.id, clock.now())
  })
}

interface Step {
  readonly file: BackupFile
  /** Reads the file, outside any transaction, and gives what loads it. */
  prepare(): Promise<(tx: Db) => Promise<void>>
}

/** Each file is loaded in a transaction that notes it: a restore that was killed goes on with the next. */
async function loadAll(restoring: Restoring): Promise<void> {
  const { db, manifest, progress } = restoring
  const steps = [...tableSteps(restoring), ...segmentSteps(restoring)]
  const done = (await selectRestore(db))?.steps_done ?? 0
  for (const [i, step] of steps.entries()) {
    if (i < done) continue
    const load = await step.prepare()
    await inTransaction(db, async tx => {
      await load(tx)
      await noteStep(tx, manifest.id, i + 1)
    })
    progress.at(`restored, the last of them ${basename(step.file.name)}: files`, i + 1, steps.length)
  }
}

function tableSteps({ folder, manifest, opening }: Restoring): readonly Step[] {
  return manifest.tables.flatMap(table =>
    table.files.map(file => ({
      file,
      async prepare() {
        const lines = await readLines(folder, file, opening)
        const rows = lines.map(line => readRow(table.columns, line))
        return (tx: Db) => insertLoaded(tx, table.name, table.columns, rows)
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
function segmentSteps({ folder, manifest, opening, db }: Restoring): readonly Step[] {
  return manifest.segments.map(file => ({
    file,
    async prepare() {
      const { parts, chunks } = readSegment(await readContent(folder, file, opening))
      const known = await selectKnownBlobs(db, [...new Set(parts.map(each => each.blob))])
      const rows = chunks
        .filter(each => known.has(each.part.blob))
        .map(({ part, position, bytes }) => [part.blob, position, bytes])
      return (tx: Db) => insertLoaded(tx, 'blob_chunks', chunkColumns, rows, true)
    },
  }))
}

async function compareCounts(db: Db, { tables }: Manifest): Promise<void> {
  for (const { name, rows } of tables) {
    const count = await countRows(db, name)
    if (count !== rows)
      throw new CommandTrouble(`The table ${name} has ${count} rows after the restore; the backup has ${rows}.`)
  }
}
