import type { ReactNode } from 'react'
import { Card } from '../../components/layout/Section.tsx'

/** A line about a factor, and what one may do with it. */
export function RowsCard({ children, actions }: { readonly children: ReactNode; readonly actions?: ReactNode }) {
  return (
    <Card>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 text-muted">{children}</div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
    </Card>
  )
}
