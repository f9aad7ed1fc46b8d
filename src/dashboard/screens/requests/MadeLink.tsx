import type { components } from '../../api/generated/v1.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { requestStrings as strings } from './strings.ts'

const messagePath = /^\/v1\/inbox\/(msg_[0-9a-z]+)(?:\/|$)/

interface MadeLinkProps {
  readonly request: components['schemas']['ApiRequest']
}

/** Leads to the email that a request made, or to the message that it was about. */
export function MadeLink({ request: { id, path, email_id } }: MadeLinkProps) {
  const { organization } = useOrganization()
  const [, messageId] = messagePath.exec(path) ?? []
  const look =
    'rounded-sm font-medium text-accent-ink underline decoration-accent-ink/30 underline-offset-3 hover:decoration-accent-ink'
  if (email_id)
    return (
      <a href={`/app/${organization.id}/sent/${email_id}`} aria-label={strings.openEmailOf(id)} className={look}>
        {strings.openEmail}
      </a>
    )
  if (messageId)
    return (
      <a href={`/app/${organization.id}/mail/m/${messageId}`} aria-label={strings.openMessageOf(id)} className={look}>
        {strings.openMessage}
      </a>
    )
  return null
}
