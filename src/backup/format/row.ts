import type { BackupColumn } from './manifest.ts'

/** A value as the database driver reads and writes it. */
export type ColumnValue = string | number | Buffer | null

/** A row as a line: a JSON array in the order of the columns, binary values in base64. */
export function writeRow(columns: readonly BackupColumn[], row: Readonly<Record<string, ColumnValue>>): string {
  return JSON.stringify(
    columns.map(({ name, isBinary }) => {
      const value = row[name] ?? null
      return isBinary && value !== null ? (value as Buffer).toString('base64') : value
    }),
  )
}

/** The values of a line, in the order of the columns. @throws when it is not such a line */
export function readRow(columns: readonly BackupColumn[], line: string): readonly ColumnValue[] {
  const values = JSON.parse(line) as readonly (string | number | null)[]
  if (!Array.isArray(values) || values.length !== columns.length)
    throw new Error(`a row does not have the ${columns.length} columns of its table`)
  return values.map((value, i) =>
    columns[i]?.isBinary && value !== null ? Buffer.from(String(value), 'base64') : value,
  )
}

/** The lines of a file, without the line ends. */
export function splitLines(bytes: Uint8Array): readonly string[] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  return text === '' ? [] : text.slice(0, -1).split('\n')
}
