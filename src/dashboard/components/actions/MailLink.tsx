import type { ReactNode } from 'react'
import { useOrganization } from '../../hooks/organization.ts'
import { TextLink } from './TextLink.tsx'

interface MailLinkProps {
  readonly id: string
  readonly label: string
  readonly children: ReactNode
}

/** Leads to a sent email. */
export function EmailLink({ id, label, children }: MailLinkProps) {
  const { organization } = useOrganization()
  return (
    <TextLink to="/$organization/sent/$email" params={{ organization: organization.id, email: id }} aria-label={label}>
      {children}
    </TextLink>
  )
}

/** Leads to a received message. */
export function MessageLink({ id, label, children }: MailLinkProps) {
  const { organization } = useOrganization()
  return (
    <TextLink
      to="/$organization/mail/m/$message"
      params={{ organization: organization.id, message: id }}
      aria-label={label}
    >
      {children}
    </TextLink>
  )
}
