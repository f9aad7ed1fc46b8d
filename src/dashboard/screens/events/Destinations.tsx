import { useQuery } from '@tanstack/react-query'
import { TextLink } from '../../components/actions/TextLink.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { keepBrand } from '../../shell/navigation/useGoShortcuts.ts'
import { useWebhookApi } from '../webhooks/useWebhookApi.ts'
import { webhooksQuery } from '../webhooks/webhook.ts'
import type { FeedEvent } from './event.ts'
import { eventStrings as strings } from './strings.ts'
import { isSentTo } from './webhook-request.ts'

/** The webhooks that get such an event as they are now. */
export function Destinations({ event }: { readonly event: FeedEvent }) {
  const { organization, may } = useOrganization()
  const api = useWebhookApi()
  const { data } = useQuery({ ...webhooksQuery(api), enabled: may('webhooks:read') })
  if (!data) return null
  const found = data.data.filter(webhook => isSentTo(webhook, event))
  if (found.length === 0) return <p className="text-sm text-muted">{strings.noDestination}</p>
  return (
    <div className="text-sm text-muted">
      {strings.destinations}
      <ul>
        {found.map(({ id, url }) => (
          <li key={id} className="min-w-0 truncate">
            <TextLink
              to="/$organization/webhooks/$webhook"
              params={{ organization: organization.id, webhook: id }}
              search={keepBrand}
            >
              <SafeText text={url} />
            </TextLink>
          </li>
        ))}
      </ul>
    </div>
  )
}
