import {
  cursorDocEnd,
  cursorDocStart,
  deleteGroupBackward,
  deleteGroupForward,
  history,
  historyKeymap,
  insertNewlineKeepIndent,
  selectAll,
  selectDocEnd,
  selectDocStart,
} from '@codemirror/commands'
import { EditorState } from '@codemirror/state'
import { EditorView, type KeyBinding, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { htmlColours } from './html-colours.ts'

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
          EditorView.lineWrapping,
          // It has the focus anyway; the attribute says so to those who look for attributes.
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of(update => {
            if (update.docChanged) onChange.current(update.state.doc.toString())
          }),
          keymap.of([...keys, ...historyKeymap]),
          theme,
          language === 'html' ? htmlColours : [],
        ],
      }),
    })
    return () => view.destroy()
  }, [label, language])
  return <div ref={host} className="h-96 overflow-hidden" />
}

/** What the browser does not do alone, as it has only the visible lines. All keys of CodeMirror weigh 9 KiB more. */
const keys: readonly KeyBinding[] = [
  { key: 'Enter', run: insertNewlineKeepIndent },
  { key: 'Mod-Backspace', mac: 'Alt-Backspace', run: deleteGroupBackward },
  { key: 'Mod-Delete', mac: 'Alt-Delete', run: deleteGroupForward },
  { key: 'Mod-a', run: selectAll },
  { key: 'Mod-Home', mac: 'Cmd-ArrowUp', run: cursorDocStart, shift: selectDocStart },
  { key: 'Mod-End', mac: 'Cmd-ArrowDown', run: cursorDocEnd, shift: selectDocEnd },
]

const theme = EditorView.theme({
  '&': { height: '24rem', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '13px' },
  '&.cm-focused': { boxShadow: 'inset 0 0 0 2px var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--faint)', borderRight: '1px solid var(--line)' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-content ::selection': { backgroundColor: 'var(--accent-soft)' },
})
