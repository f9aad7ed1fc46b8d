import type { ReactNode } from 'react'
import { useOrganization } from '../../hooks/organization.ts'

interface EmailLinkProps {
  readonly id: string
  readonly label: string
  readonly children: ReactNode
}

/** Leads to a sent email. */
export function EmailLink({ id, label, children }: EmailLinkProps) {
  const { organization } = useOrganization()
  return (
    <a
      href={`/app/${organization.id}/sent/${id}`}
      aria-label={label}
      className="rounded-sm font-medium text-accent-ink underline decoration-accent-ink/30 underline-offset-3"
    >
      {children}
    </a>
  )
}
