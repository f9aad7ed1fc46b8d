/** A line of a CSV file (RFC 4180). */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** `=`, `+`, `-` and `@`, also full-width, after what a spreadsheet skips: white space, control and format characters. */
const formula = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u

/** The text as a cell that no spreadsheet takes for a formula: with an apostrophe in front, where it would be one. */
export function formulaSafe(text: string): string {
  return formula.test(text) ? `'${text}` : text
}
