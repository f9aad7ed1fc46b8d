import { type ReactNode, useId } from 'react'

interface SectionProps {
  readonly title: string
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A part of a screen, with its heading. */
export function Section({ title, hint, actions, children }: SectionProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="mb-8 min-w-0">
      <div className="mb-2.5 flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 id={id} className="text-base font-semibold">
            {title}
          </h2>
          {hint && <div className="max-w-2xl text-sm text-muted">{hint}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  )
}

/** A surface within a section. */
export function Card({ children }: { readonly children: ReactNode }) {
  return <div className="rounded-lg border border-line bg-surface p-4">{children}</div>
}
