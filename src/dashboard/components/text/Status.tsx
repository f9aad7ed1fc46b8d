import { CircleAlert, CircleCheck, CircleDashed, Clock, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

/** What a state means to the reader: `off` is neither good nor bad, `waits` goes on by itself. */
export type Tone = 'good' | 'warn' | 'bad' | 'waits' | 'info' | 'off'

const icons = { good: CircleCheck, warn: TriangleAlert, bad: CircleAlert, waits: Clock, info: Info, off: CircleDashed }

const inks: Readonly<Record<Tone, string>> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  waits: 'text-muted',
  info: 'text-accent-ink',
  off: 'text-faint',
}

const soft: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft',
  warn: 'bg-warn-soft',
  bad: 'bg-bad-soft',
  waits: 'bg-sunken',
  info: 'bg-accent-soft',
  off: 'bg-sunken',
}

interface StatusProps {
  readonly tone: Tone
  /** The state in a word or two, as the API calls it. */
  readonly children: ReactNode
  /** More about it, shown on hover. */
  readonly title?: string
}

/** A state in a row: an icon with its own shape, and a word. Colour is never the only sign. */
export function Status({ tone, children, title }: StatusProps) {
  return (
    <span
      title={title}
      className={classes('inline-flex items-center gap-1.5 text-sm font-medium whitespace-nowrap', inks[tone])}
    >
      <ToneIcon tone={tone} />
      {children}
    </span>
  )
}

/** The same on a coloured ground: for a heading, or where there is only one. */
export function Badge({ tone, children, title }: StatusProps) {
  return (
    <span
      title={title}
      className={classes(
        'inline-flex h-6 items-center gap-1 rounded-full px-2 text-xs font-medium whitespace-nowrap',
        inks[tone],
        soft[tone],
      )}
    >
      <ToneIcon tone={tone} className="size-3.5" />
      {children}
    </span>
  )
}

/** A plain label without a state: a tag, a role, a count. */
export function Tag({ children }: { readonly children: ReactNode }) {
  return (
    <span className="inline-flex h-5 max-w-full items-center truncate rounded-sm bg-sunken px-1.5 text-xs font-medium text-muted ring-1 ring-line ring-inset">
      {children}
    </span>
  )
}

/** The icon of a tone, in its colour. */
export function ToneIcon({ tone, className = 'size-4' }: { readonly tone: Tone; readonly className?: string }) {
  const Icon = icons[tone]
  return <Icon className={classes('shrink-0', inks[tone], className)} aria-hidden="true" />
}
