/** A row of the list: what acts on it changes. */
export interface SnapshotRow {
  readonly id: string
  readonly folder: string
  readonly read: boolean
  readonly starred: boolean
}

/** What an act changes of a message. */
export type RowChange = Partial<Pick<SnapshotRow, 'folder' | 'read' | 'starred'>>

/**
 * The rows after an act of the person. In the list of a folder, a row that leaves it goes; search results stay where they
 * are, with their new folder.
 */
export function applyChange<Row extends SnapshotRow>(
  rows: readonly Row[],
  ids: ReadonlySet<string>,
  change: RowChange,
  folder: string | null,
): readonly Row[] {
  return rows
    .map(row => (ids.has(row.id) ? { ...row, ...change } : row))
    .filter(row => folder === null || row.folder === folder || !ids.has(row.id))
}

/** Puts rows back where they were before they left. */
export function restoreRows<Row extends SnapshotRow>(
  rows: readonly Row[],
  before: readonly Row[],
  ids: ReadonlySet<string>,
): readonly Row[] {
  const known = new Map(rows.map(row => [row.id, row]))
  const order = before.flatMap(row => (ids.has(row.id) ? row : (known.get(row.id) ?? [])))
  const placed = new Set(order.map(row => row.id))
  // What came since stands before; what was loaded since stands behind.
  const firstKnown = rows.findIndex(row => placed.has(row.id))
  const rest = rows.filter(row => !placed.has(row.id))
  const isNewer = (row: Row) => firstKnown < 0 || rows.indexOf(row) < firstKnown
  return [...rest.filter(isNewer), ...order, ...rest.filter(row => !isNewer(row))]
}

/** The row that takes the place of those: the next one that stays, else the one before; null: none is left. */
export function nextAfter(rows: readonly { readonly id: string }[], ids: ReadonlySet<string>): string | null {
  const last = rows.findLastIndex(row => ids.has(row.id))
  const after = rows.slice(last + 1).find(row => !ids.has(row.id))
  const before = rows.slice(0, Math.max(last, 0)).findLast(row => !ids.has(row.id))
  return (after ?? before)?.id ?? null
}

/** The ids of the rows between two of them, both included, in the order of the list: what Shift and a click ticks. */
export function idsBetween(rows: readonly { readonly id: string }[], from: string, to: string): readonly string[] {
  const [a, b] = [rows.findIndex(row => row.id === from), rows.findIndex(row => row.id === to)]
  if (a < 0 || b < 0) return b < 0 ? [] : [to]
  return rows.slice(Math.min(a, b), Math.max(a, b) + 1).map(row => row.id)
}
