import type { ReactNode } from 'react'

interface EmptyStateProps {
  /** A lucide icon. */
  readonly icon: ReactNode
  /** What is not there yet: "No domains yet". */
  readonly title: string
  /** What it is for, in a sentence or two. */
  readonly children: ReactNode
  /** The first step: a button, a command. */
  readonly action?: ReactNode
}

/** A screen without content: it says what would be here, and how to begin. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center rounded-lg border border-dashed border-line-strong px-6 py-12 text-center">
      <div
        className="mb-4 flex size-10 items-center justify-center rounded-lg bg-sunken text-muted ring-1 ring-line ring-inset [&_svg]:size-5"
        aria-hidden="true"
      >
        {icon}
      </div>
      <h2 className="text-lg font-semibold">{title}</h2>
      <div className="mt-1 max-w-md text-muted">{children}</div>
      {action && <div className="mt-5 flex w-full max-w-xl flex-wrap justify-center gap-2 text-left">{action}</div>}
    </div>
  )
}
