import type { components } from '../../api/generated/v1.ts'
import { EmailLink, MessageLink } from '../../components/actions/MailLink.tsx'
import { requestStrings as strings } from './strings.ts'

const messagePath = /^\/v1\/inbox\/(msg_[0-9a-z]+)(?:\/|$)/

interface MadeLinkProps {
  readonly request: components['schemas']['ApiRequest']
}

/** Leads to the email that a request made, or to the message that it was about. */
export function MadeLink({ request: { id, path, email_id } }: MadeLinkProps) {
  const [, messageId] = messagePath.exec(path) ?? []
  if (email_id)
    return (
      <EmailLink id={email_id} label={strings.openEmailOf(id)}>
        {strings.openEmail}
      </EmailLink>
    )
  if (messageId)
    return (
      <MessageLink id={messageId} label={strings.openMessageOf(id)}>
        {strings.openMessage}
      </MessageLink>
    )
  return null
}
