import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { Lag } from '../Lag.tsx'
import type { Webhook } from '../webhook.ts'
import { endpointStrings as strings } from './strings.ts'

/** What an endpoint gets, and how it fares. */
export function WebhookDetails({ webhook }: { readonly webhook: Webhook }) {
  const { organization } = useOrganization()
  const brand = organization.brands.find(({ id }) => id === webhook.brand_id)
  return (
    <KeyValues
      isStacked
      items={[
        [strings.lastSuccess, <Time key="success" at={webhook.last_success_at} />],
        [strings.lag, <Lag key="lag" webhookId={webhook.id} />],
        [
          strings.types,
          <ul key="types" className="font-mono text-xs">
            {webhook.types.map(type => (
              <li key={type}>{type}</li>
            ))}
          </ul>,
        ],
        organization.brands.length > 1
          ? [
              strings.brand,
              webhook.brand_id === null ? (
                strings.allBrands
              ) : (
                <SafeText key="brand" text={brand?.name ?? webhook.brand_id} />
              ),
            ]
          : null,
        [
          strings.mailboxes,
          webhook.mailbox_ids.length === 0 ? strings.allMailboxes : strings.mailboxCount(webhook.mailbox_ids.length),
        ],
        [
          strings.secret,
          <span key="secret" className="font-mono text-xs">
            {strings.secretEnds(webhook.secret_ends_in)}
          </span>,
        ],
        [strings.created, <Time key="created" at={webhook.created_at} show="full" />],
        [strings.changed, <Time key="changed" at={webhook.updated_at} show="full" />],
        [
          strings.id,
          <span key="id" className="font-mono text-xs break-all">
            {webhook.id}
          </span>,
        ],
      ]}
    />
  )
}
