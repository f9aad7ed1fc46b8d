import { html } from '@codemirror/legacy-modes/mode/xml'
import { type EditorState, type Extension, type Range, RangeSet } from '@codemirror/state'
import { StringStream } from '@codemirror/streamparser'
import { Decoration, EditorView, ViewPlugin } from '@codemirror/view'

const tag = Decoration.mark({ class: 'html-tag' })
/** By the first word of what the tokenizer calls a token. */
const colours: Readonly<Record<string, Decoration>> = {
  angleBracket: tag,
  tag,
  attribute: Decoration.mark({ class: 'html-attribute' }),
  string: Decoration.mark({ class: 'html-string' }),
  comment: Decoration.mark({ class: 'html-comment' }),
}

/** From here on a text has no colours: reading it at each key would be slow. */
const mostCharacters = 200_000
const indentUnit = 2
/** The tokenizer may change its state a few times before it moves on. */
const mostTries = 10

/**
 * The colours of HTML, by CodeMirror's tokenizer, which reads from the start of the text to the end of what is visible. Its
 * package for languages does more, with a tree of the whole text, and is as large as all else of this screen.
 */
export const htmlColours: Extension = [
  ViewPlugin.define(
    view => ({
      decorations: colour(view.state, view.viewport.to),
      update(change) {
        if (change.docChanged || change.viewportChanged)
          this.decorations = colour(change.state, change.view.viewport.to)
      },
    }),
    { decorations: plugin => plugin.decorations },
  ),
  EditorView.baseTheme({
    '.html-tag': { color: 'var(--accent-ink)' },
    '.html-attribute': { color: 'var(--warn)' },
    '.html-string': { color: 'var(--good)' },
    '.html-comment': { color: 'var(--faint)', fontStyle: 'italic' },
  }),
]

/** The colours of the text before `end`, to the end of its line. */
function colour({ doc, tabSize }: EditorState, end: number): RangeSet<Decoration> {
  const ranges: Range<Decoration>[] = []
  const state = html.startState?.(indentUnit)
  const readToken = (stream: StringStream): string | null => {
    stream.start = stream.pos
    for (let tries = 0; tries < mostTries; tries++) {
      const kind = html.token(stream, state)
      if (stream.pos > stream.start) return kind
    }
    stream.next()
    return null
  }
  for (let from = 0; from <= Math.min(end, mostCharacters) && from <= doc.length; ) {
    const line = doc.lineAt(from)
    const stream = new StringStream(line.text, tabSize, indentUnit)
    while (!stream.eol()) {
      const decoration = colours[readToken(stream)?.split(' ')[0] ?? '']
      if (decoration) ranges.push(decoration.range(line.from + stream.start, line.from + stream.pos))
    }
    from = line.to + 1
  }
  return RangeSet.of(ranges)
}
