import { type ReactNode, useRef } from 'react'
import { useShortcuts } from '../../hooks/shortcuts.ts'
import { classes } from '../classes.ts'
import { listStrings } from './strings.ts'

interface KeyboardListProps<Row> {
  /** What is listed, for screen readers. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** Draws a row: it holds one link or button that opens it, marked with `data-open`. */
  readonly children: (row: Row) => ReactNode
  readonly className?: string
}

/**
 * A list in which j and k move the focus from row to row, and Enter opens the one that has it. The focus stands on the
 * row's own link, so that screen readers and the browser's keys work as ever.
 */
export function KeyboardList<Row>({ label, rows, rowKey, children, className }: KeyboardListProps<Row>) {
  const list = useRef<HTMLUListElement>(null)
  const move = (step: 1 | -1) => {
    const links = [...(list.current?.querySelectorAll<HTMLElement>('[data-open]') ?? [])]
    const now = links.findIndex(link => link.closest('li')?.contains(document.activeElement))
    const next = links[now < 0 ? (step > 0 ? 0 : links.length - 1) : now + step]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }
  useShortcuts(listStrings.group, [
    { key: 'j', label: listStrings.next, run: () => move(1) },
    { key: 'k', label: listStrings.previous, run: () => move(-1) },
  ])
  return (
    <ul
      ref={list}
      aria-label={label}
      className={classes('divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface', className)}
    >
      {rows.map(row => (
        <li key={rowKey(row)} className="relative transition-colors focus-within:bg-hover hover:bg-hover">
          {children(row)}
        </li>
      ))}
    </ul>
  )
}
