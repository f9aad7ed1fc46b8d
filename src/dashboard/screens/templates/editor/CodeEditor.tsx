import { history, historyKeymap, standardKeymap } from '@codemirror/commands'
import { HighlightStyle, LRLanguage, syntaxHighlighting } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { parser } from '@lezer/html'
import { useEffect, useRef } from 'react'

interface CodeEditorProps {
  /** For screen readers: "Source of the HTML". */
  readonly label: string
  readonly language: 'html' | 'text'
  /** The text at first; afterwards the editor has it. Give it another `key` for another text. */
  readonly initialText: string
  readonly onText: (text: string) => void
}

/**
 * An editor for source text. It stands in a shadow root: there CodeMirror adds its style sheets as objects, which the
 * page's policy allows, and not as elements, which it refuses. Tab moves the focus on.
 */
export function CodeEditor({ label, language, initialText, onText }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null)
  const onChange = useRef(onText)
  onChange.current = onText
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text at first is read once
  useEffect(() => {
    if (!host.current) return
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: initialText,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          EditorView.lineWrapping,
          // It has the focus anyway; the attribute says so to those who look for attributes.
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of(update => {
            if (update.docChanged) onChange.current(update.state.doc.toString())
          }),
          keymap.of([...standardKeymap, ...historyKeymap]),
          syntaxHighlighting(colours),
          theme,
          language === 'html' ? html : [],
        ],
      }),
    })
    return () => view.destroy()
  }, [label, language])
  return <div ref={host} className="h-96 overflow-hidden" />
}

/** HTML alone: the package for it brings the parsers of CSS and JavaScript too, which are twice as large. */
const html = LRLanguage.define({ parser })

const theme = EditorView.theme({
  '&': { height: '24rem', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { boxShadow: 'inset 0 0 0 2px var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--faint)', borderRight: '1px solid var(--line)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
})

const colours = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'var(--accent-ink)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--warn)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--good)' },
  { tag: tags.comment, color: 'var(--faint)', fontStyle: 'italic' },
])
