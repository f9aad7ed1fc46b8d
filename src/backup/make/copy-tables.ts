import type { Db } from '../../base/database/database.ts'
import { backupFolder } from '../files/names.ts'
import type { BackupSink } from '../files/sink.ts'
import { openLineFiles } from '../files/write-file.ts'
import type { Encryption } from '../format/encryption.ts'
import type { BackupTable } from '../format/manifest.ts'
import { writeRow } from '../format/row.ts'
import type { ProgressReporter } from '../progress.ts'
import {
  type SnapshotRow,
  selectMigrations,
  selectRowBatch,
  selectTables,
  type TableDescription,
} from './snapshot-table.ts'
import type { Throttle } from './throttle.ts'

/** What copying the tables depends on. */
export interface CopyTablesDeps {
  readonly id: string
  readonly sink: BackupSink
  readonly encryption: Encryption
  readonly throttle: Throttle
  readonly progress: ProgressReporter
  /** @throws when the backup must stop */
  readonly requireActive: () => void
  /** Called with each row of `blobs`, in the order of ids. */
  readonly onBlob: (row: SnapshotRow) => Promise<void>
}

/** How many bytes of rows one query should read. */
const batchBytes = 512 * 1024
const minRows = 16
const maxRows = 2048

/** Copies all tables of a snapshot; gives them with the migrations that had been applied. */
export async function copyTables(
  snapshot: Db,
  deps: CopyTablesDeps,
): Promise<{ readonly migrations: readonly string[]; readonly tables: readonly BackupTable[] }> {
  const migrations = await selectMigrations(snapshot)
  const tables: BackupTable[] = []
  for (const table of await selectTables(snapshot)) tables.push(await copyTable(snapshot, table, deps))
  return { migrations, tables }
}

async function copyTable(snapshot: Db, table: TableDescription, deps: CopyTablesDeps): Promise<BackupTable> {
  const { id, sink, encryption, throttle, progress, requireActive, onBlob } = deps
  const files = openLineFiles(sink, `${backupFolder(id)}/tables/${table.name}`, encryption)
  let rows = 0
  let limit = minRows
  for (let after: SnapshotRow | null = null; ; ) {
    requireActive()
    const batch: readonly SnapshotRow[] = await selectRowBatch(snapshot, table, after, limit)
    let bytes = 0
    for (const row of batch) {
      const line = writeRow(table.columns, row)
      bytes += line.length
      await files.add(line)
      if (table.name === 'blobs') await onBlob(row)
    }
    rows += batch.length
    progress.report(`rows of ${table.name}`, rows)
    await throttle.pause()
    if (batch.length < limit) break
    after = batch.at(-1) ?? null
    limit = nextLimit(limit, bytes)
  }
  const columns = table.columns.map(({ name, isBinary }) => ({ name, isBinary }))
  return { name: table.name, columns, rows, files: await files.end() }
}

/** Doubles or halves the number of rows, so that few statements with different numbers are prepared. */
function nextLimit(limit: number, bytes: number): number {
  if (bytes > batchBytes) return Math.max(minRows, limit / 2)
  return bytes < batchBytes / 2 ? Math.min(maxRows, limit * 2) : limit
}
