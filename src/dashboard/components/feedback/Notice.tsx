import type { ReactNode } from 'react'
import { classes } from '../classes.ts'
import { type Tone, ToneIcon } from '../text/Status.tsx'

interface NoticeProps {
  readonly tone: Extract<Tone, 'good' | 'warn' | 'bad' | 'info'>
  readonly title: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}

const grounds = {
  good: 'bg-good-soft border-good/25',
  warn: 'bg-warn-soft border-warn/25',
  bad: 'bg-bad-soft border-bad/25',
  info: 'bg-accent-soft border-accent/25',
}

/** Something that the reader should know before going on. */
export function Notice({ tone, title, children, action }: NoticeProps) {
  return (
    <div className={classes('flex gap-2.5 rounded-lg border px-3 py-2.5 text-sm', grounds[tone])}>
      <ToneIcon tone={tone} className="mt-0.5 size-4" />
      <div className="min-w-0 flex-1">
        <div className="font-medium">{title}</div>
        {children && <div className="mt-0.5 text-muted">{children}</div>}
        {action && <div className="mt-2">{action}</div>}
      </div>
    </div>
  )
}
