import { EmailLink, MessageLink } from '../../components/actions/MailLink.tsx'
import { TextLink } from '../../components/actions/TextLink.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { keepBrand } from '../../shell/navigation/useGoShortcuts.ts'
import { type FeedEvent, targetOf } from './event.ts'
import { eventStrings as strings } from './strings.ts'

/** Leads to what an event is about; nothing where that has no screen. */
export function EventTargetLink({ event }: { readonly event: FeedEvent }) {
  const { organization } = useOrganization()
  const target = targetOf(event)
  const params = { organization: organization.id }
  switch (target.kind) {
    case 'message':
      return (
        <MessageLink id={target.id} label={strings.openThe.message}>
          {strings.openThe.message}
        </MessageLink>
      )
    case 'email':
      return (
        <EmailLink id={target.id} label={strings.openThe.email}>
          {strings.openThe.email}
        </EmailLink>
      )
    case 'domain':
      return (
        <TextLink to="/$organization/domains/$domain" params={{ ...params, domain: target.id }} search={keepBrand}>
          {strings.openThe.domain}
        </TextLink>
      )
    case 'webhook':
      return (
        <TextLink to="/$organization/webhooks/$webhook" params={{ ...params, webhook: target.id }} search={keepBrand}>
          {strings.openThe.webhook}
        </TextLink>
      )
    case 'none':
      return null
  }
}
