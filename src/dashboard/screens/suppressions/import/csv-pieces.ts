/** A part of a CSV file that can be read by itself. */
export interface CsvPiece {
  /** The first line of the file, which names the fields. */
  readonly header: string
  readonly lines: string
  /** The number in the file of the first of these lines. */
  readonly firstLine: number
  /** How much of the file this and the pieces before are, from 0 to 1. */
  readonly progress: number
}

const mostLines = 500
const mostCharacters = 256 * 1024
/** A quote that is still open after so many lines is a mistake, which the server reports. */
const mostLinesOfRecord = 100

/**
 * Reads a CSV file in pieces, of which only one is in memory. A piece ends where a line ends that is not inside quotes.
 * An empty file has none.
 */
export async function* csvPieces(file: Blob): AsyncGenerator<CsvPiece> {
  let header: string | null = null
  let lines: string[] = []
  let characters = 0
  let firstLine = 2
  let openLines = 0
  for await (const { line, progress } of linesOf(file)) {
    if (header === null) {
      header = line
      continue
    }
    lines.push(line)
    characters += line.length + 1
    const isOpen = openLines > 0 !== hasOddQuotes(line)
    openLines = isOpen && openLines < mostLinesOfRecord ? openLines + 1 : 0
    if (openLines === 0 && (lines.length >= mostLines || characters >= mostCharacters)) {
      yield { header, lines: `${lines.join('\n')}\n`, firstLine, progress }
      firstLine += lines.length
      lines = []
      characters = 0
    }
  }
  if (header !== null && (lines.length > 0 || firstLine === 2))
    yield { header, lines: lines.join('\n'), firstLine, progress: 1 }
}

function hasOddQuotes(line: string): boolean {
  return (line.split('"').length - 1) % 2 === 1
}

async function* linesOf(file: Blob): AsyncGenerator<{ readonly line: string; readonly progress: number }> {
  const decoder = new TextDecoder()
  const reader = file.stream().getReader()
  let pending = ''
  let read = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    read += chunk.value.length
    const lines = (pending + decoder.decode(chunk.value, { stream: true })).split('\n')
    pending = lines.pop() ?? ''
    for (const line of lines) yield { line, progress: read / file.size }
  }
  if (pending !== '') yield { line: pending, progress: 1 }
}
