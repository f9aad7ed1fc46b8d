import type { Db } from '../../base/database/database.ts'
import { folderOf, lineFiles, type Sink } from '../files/sink.ts'
import type { Encryption } from '../format/encryption.ts'
import type { BackupTable } from '../format/manifest.ts'
import { writeRow } from '../format/row.ts'
import type { Progress } from '../progress.ts'
import { type ReadTable, type Row, selectBatch, selectMigrations, selectTables } from './snapshot-table.ts'
import type { Pace } from './throttle.ts'

/** What reading the tables needs. */
export interface TableCopying {
  readonly id: string
  readonly sink: Sink
  readonly encryption: Encryption
  readonly pace: Pace
  readonly progress: Progress
  /** @throws when the backup is to end */
  readonly check: () => void
  /** Is told each row of `blobs`, in the order of ids. */
  readonly onBlob: (row: Row) => Promise<void>
}

/** Bytes of rows that one query is to give. */
const batchBytes = 512 * 1024
const leastRows = 16
const mostRows = 2048

/** Writes all tables of a snapshot, and tells which migrations they had seen. */
export async function copyTables(
  snapshot: Db,
  use: TableCopying,
): Promise<{ readonly migrations: readonly string[]; readonly tables: readonly BackupTable[] }> {
  const migrations = await selectMigrations(snapshot)
  const tables: BackupTable[] = []
  for (const table of await selectTables(snapshot)) tables.push(await copyTable(snapshot, table, use))
  return { migrations, tables }
}

async function copyTable(snapshot: Db, table: ReadTable, use: TableCopying): Promise<BackupTable> {
  const { id, sink, encryption, pace, progress, check, onBlob } = use
  const files = lineFiles(sink, `${folderOf(id)}/tables/${table.name}`, encryption)
  let rows = 0
  let limit = leastRows
  for (let after: Row | null = null; ; ) {
    check()
    const batch: readonly Row[] = await selectBatch(snapshot, table, after, limit)
    let bytes = 0
    for (const row of batch) {
      const line = writeRow(table.columns, row)
      bytes += line.length
      await files.add(line)
      if (table.name === 'blobs') await onBlob(row)
    }
    rows += batch.length
    progress.at(`rows of ${table.name}`, rows)
    await pace.rest()
    if (batch.length < limit) break
    after = batch.at(-1) ?? null
    limit = nextLimit(limit, bytes)
  }
  const columns = table.columns.map(({ name, isBinary }) => ({ name, isBinary }))
  return { name: table.name, columns, rows, files: await files.end() }
}

/** Twice or half as many rows: a statement for each number of rows stays prepared. */
function nextLimit(limit: number, bytes: number): number {
  if (bytes > batchBytes) return Math.max(leastRows, limit / 2)
  return bytes < batchBytes / 2 ? Math.min(mostRows, limit * 2) : limit
}
