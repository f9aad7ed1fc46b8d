import type { components } from '../../api/v1.ts'
import { EmailLink, MessageLink } from '../../components/actions/MailLink.tsx'
import { requestStrings as strings } from './strings.ts'

const messagePath = /^\/v1\/inbox\/(msg_[0-9a-z]+)(?:\/|$)/

interface MadeLinkProps {
  readonly request: components['schemas']['ApiRequest']
}

/** Is there an email that the request made, or a message that it was about? */
export function isLinked({ path, email_id, status }: MadeLinkProps['request']): boolean {
  return email_id !== null || (status < 400 && messagePath.test(path))
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
