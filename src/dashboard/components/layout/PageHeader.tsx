import type { ReactNode } from 'react'
import { useTitle } from '../../hooks/title.ts'

interface PageHeaderProps {
  /** The heading of the page, and the title of the window. */
  readonly title: string
  /** Draws the heading otherwise: a name with its state. */
  readonly heading?: ReactNode
  /** What the screen is for, or the thing's most important facts. */
  readonly children?: ReactNode
  /** Buttons; at most one is primary. */
  readonly actions?: ReactNode
  /** A link to the list that this page belongs to. */
  readonly back?: ReactNode
}

/** The top of a screen. */
export function PageHeader({ title, heading, children, actions, back }: PageHeaderProps) {
  useTitle(title)
  return (
    <header className="mb-5">
      {back && <div className="mb-1 text-sm">{back}</div>}
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0">
          <h1 tabIndex={-1} data-page-heading="" className="text-xl font-semibold tracking-tight">
            {heading ?? title}
          </h1>
          {children && <div className="mt-0.5 max-w-2xl text-muted">{children}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
    </header>
  )
}
