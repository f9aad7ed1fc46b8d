import { CsvError, parse } from 'csv-parse/sync'
import { type SuppressionEntry, suppressionEntryFields } from './import.ts'

/** An entry of a file with the number of its line (1-based), or why it cannot be read. */
export type SuppressionFileLine =
  | { readonly line: number; readonly entry: SuppressionEntry }
  | { readonly line: number; readonly error: string }

/** The file as a whole cannot be read; the message is a sentence. */
export class SuppressionFileError extends Error {
  override readonly name = 'SuppressionFileError'
}

/** The bytes of a file, in pieces. */
export type FileBytes = AsyncIterable<Uint8Array>

const maxLineBytes = 64 * 1024

/** The most lines that one record may have. */
const maxRecordLines = 100

/**
 * The entries of a CSV file (RFC 4180) whose first line names the fields. A quote that is not closed makes only its own
 * line unreadable. @throws SuppressionFileError
 */
export async function* csvEntries(file: FileBytes): AsyncGenerator<SuppressionFileLine> {
  let names: readonly string[] | undefined
  let record: readonly string[] = []
  let line = 1
  const consume = (count: number) => {
    line += count
    record = record.slice(count)
  }
  for await (const text of withEnd(linesOf(file), null)) {
    if (text !== null) record = [...record, text]
    while (record.length > 0) {
      const isWhole = isClosed(record)
      if (!isWhole && text !== null && record.length < maxRecordLines) break
      const cells = isWhole ? cellsOf(record.join('\n'), names?.length) : unclosed
      // Several lines that are no record begin with a quote too many: only the first line is reported.
      const count = typeof cells === 'string' ? 1 : record.length
      if (names === undefined) names = readHeader(typeof cells === 'string' ? [] : cells)
      else if (typeof cells === 'string') yield { line, error: cells }
      else if (cells.length > 0) yield { line, entry: entryOf(names, cells) }
      consume(count)
    }
  }
  if (names === undefined) readHeader([])
}

const unclosed = 'a quote is not closed'

async function* withEnd<Item, End>(items: AsyncIterable<Item>, end: End): AsyncGenerator<Item | End> {
  yield* items
  yield end
}

function entryOf(names: readonly string[], cells: readonly string[]): SuppressionEntry {
  return Object.fromEntries(names.map((name, i) => [name, cells[i] ?? '']))
}

/** The fields of a record, none for an empty line; a text: what is wrong with the record. */
function cellsOf(text: string, expected: number | undefined): readonly string[] | string {
  try {
    const [cells = []] = parse(text, { skip_empty_lines: true, trim: true })
    if (expected === undefined || cells.length === 0 || cells.length === expected) return cells
    return `this line has ${cells.length} fields, but the first line names ${expected}`
  } catch (error) {
    if (error instanceof CsvError) return error.message.replace(/ (?:at|on) line \d+$/, '')
    throw error
  }
}

function isClosed(lines: readonly string[]): boolean {
  return lines.reduce((count, text) => count + text.split('"').length - 1, 0) % 2 === 0
}

function readHeader(header: readonly string[]): readonly string[] {
  const names = header.map(value => value.trim().toLowerCase()).map(value => (value === 'brand_id' ? 'brand' : value))
  if (!names.includes('email'))
    throw new SuppressionFileError(
      `The first line does not name the field email; fields are ${suppressionEntryFields.join(', ')}.`,
    )
  return names
}

/** The entries of a file with a JSON object on each line. */
export async function* jsonEntries(file: FileBytes): AsyncGenerator<SuppressionFileLine> {
  let line = 0
  for await (const text of linesOf(file)) {
    line++
    if (text.trim() === '') continue
    const entry = readObject(text)
    yield entry ? { line, entry } : { line, error: 'not a JSON object' }
  }
}

function readObject(text: string): SuppressionEntry | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const fields = Object.entries(value).filter(([, field]) => field !== null && field !== undefined)
    return Object.fromEntries(fields.map(([name, field]) => [name === 'brand_id' ? 'brand' : name, String(field)]))
  } catch {
    return undefined
  }
}

async function* linesOf(file: FileBytes): AsyncGenerator<string> {
  // It drops a byte order mark.
  const decoder = new TextDecoder()
  let pending = ''
  for await (const bytes of file) {
    const lines = (pending + decoder.decode(bytes, { stream: true })).split('\n')
    pending = lines.pop() ?? ''
    yield* lines
    if (pending.length > maxLineBytes)
      throw new SuppressionFileError(`A line is longer than ${maxLineBytes} characters.`)
  }
  if (pending !== '') yield pending
}
