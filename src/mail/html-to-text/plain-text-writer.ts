/** Deeper levels are written with the prefixes of this many: each level makes every line longer. */
const maxLevels = 8

/** Builds plain text from flowing text, much as a browser's `innerText` does. Lines end with LF. */
export interface PlainTextWriter {
  /** Characters written so far. */
  readonly length: number
  /** Writes text in which each run of white space counts as one space. */
  write(text: string): void
  /** Writes text whose spaces and line ends stay as they are. */
  writePreformatted(text: string): void
  /** Separates what was written from what follows on the same line by a space. */
  space(): void
  /** Ends a block: what follows comes at least so many line ends later, 1 for a new line, 2 for a new paragraph. */
  endBlock(lineEnds: 1 | 2): void
  /** Adds one line end, as `<br>` does. */
  newLine(): void
  /** Begins each following line with `prefix`, after the prefixes that apply already. */
  indent(prefix: string): void
  /** Removes the innermost prefix. */
  outdent(): void
  /** Puts `mark`, such as a bullet, at the right end of the prefix of the next line. */
  markItem(mark: string): void
  toString(): string
}

/** White space other than a single space. */
const collapsible = /[\t\r\n\f]| {2}/

export function newPlainTextWriter(): PlainTextWriter {
  const pieces: string[] = []
  const prefixes: string[] = []
  let length = 0
  let lineEnds = 0
  let needsSpace = false
  let prefix = ''
  let mark = ''
  /** Empty lines between two blocks carry only the prefixes that both blocks have. */
  let commonLevels = 0

  function add(piece: string): void {
    pieces.push(piece)
    length += piece.length
  }

  function prefixOf(levels: number): string {
    return prefixes.slice(0, Math.min(levels, maxLevels)).join('')
  }

  function beginText(): void {
    if (length > 0 && lineEnds === 0) {
      if (needsSpace) add(' ')
    } else {
      if (length > 0 && lineEnds > 1) add(`\n${prefixOf(commonLevels).trimEnd()}`.repeat(lineEnds - 1))
      if (length > 0) add('\n')
      add(`${prefix.slice(0, Math.max(prefix.length - mark.length, 0))}${mark}`)
      mark = ''
    }
    lineEnds = 0
    needsSpace = false
    commonLevels = prefixes.length
  }

  return {
    get length() {
      return length
    },
    write(text) {
      const collapsed = collapsible.test(text) ? text.replace(/[ \t\r\n\f]+/g, ' ') : text
      const [hasSpaceBefore, hasSpaceAfter] = [collapsed.startsWith(' '), collapsed.endsWith(' ')]
      if (hasSpaceBefore) needsSpace = true
      const words = collapsed.slice(hasSpaceBefore ? 1 : 0, hasSpaceAfter ? -1 : undefined)
      if (words === '') return
      beginText()
      add(words)
      needsSpace = hasSpaceAfter
    },
    writePreformatted(text) {
      for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
        if (i > 0) lineEnds++
        if (line === '') continue
        beginText()
        add(line)
      }
    },
    space() {
      needsSpace = true
    },
    endBlock(least) {
      lineEnds = Math.max(lineEnds, least)
    },
    newLine() {
      lineEnds++
    },
    indent(added) {
      prefixes.push(added)
      prefix = prefixOf(prefixes.length)
    },
    outdent() {
      prefixes.pop()
      prefix = prefixOf(prefixes.length)
      commonLevels = Math.min(commonLevels, prefixes.length)
    },
    markItem(text) {
      mark = text
    },
    toString: () => pieces.join(''),
  }
}
