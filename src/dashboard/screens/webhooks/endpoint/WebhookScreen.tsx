import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { TextLink } from '../../../components/actions/TextLink.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Card, Section } from '../../../components/layout/Section.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Badge } from '../../../components/text/Status.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useShortcuts } from '../../../hooks/shortcuts.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { Deliveries } from '../deliveries/Deliveries.tsx'
import { webhookStrings } from '../strings.ts'
import { useWebhookApi } from '../useWebhookApi.ts'
import { webhookQuery, webhookTones } from '../webhook.ts'
import { endpointStrings as strings } from './strings.ts'
import { WebhookActions } from './WebhookActions.tsx'
import { WebhookDetails } from './WebhookDetails.tsx'
import { WebhookNotice } from './WebhookNotice.tsx'

/** `/app/<organization>/webhooks/<id>`: one endpoint, and what was sent to it. */
export function WebhookScreen() {
  const { organization, may } = useOrganization()
  const api = useWebhookApi()
  const { webhook: id } = useParams({ from: '/$organization/webhooks/$webhook' })
  const { data: webhook, error } = useQuery(webhookQuery(api, id))
  const navigate = useNavigate()
  const toList = {
    to: '/$organization/webhooks',
    params: { organization: organization.id },
    search: keepBrand,
  } as const
  useShortcuts(strings.back, [{ key: 'Escape', label: strings.back, run: () => void navigate(toList) }])
  const back = <TextLink {...toList}>← {strings.back}</TextLink>
  if (!webhook)
    return (
      <>
        <PageHeader title={strings.title} back={back} />
        {error ? <Refusal error={error} /> : <SkeletonRows rows={5} />}
      </>
    )
  return (
    <>
      {/* The address is on the page, but not in the window's title, which browsers keep: it may hold a token. */}
      <PageHeader
        title={strings.title}
        back={back}
        heading={
          <span className="inline-flex max-w-full flex-wrap items-center gap-x-3 gap-y-1">
            <span className="min-w-0 font-mono text-base font-medium break-all">
              <SafeText text={webhook.url} />
            </span>
            <Badge tone={webhookTones[webhook.status]}>{webhookStrings.statuses[webhook.status]}</Badge>
          </span>
        }
        actions={may('webhooks:write') && <WebhookActions webhook={webhook} />}
      >
        {webhook.description && <SafeText text={webhook.description} />}
      </PageHeader>
      <WebhookNotice webhook={webhook} />
      <div className="grid gap-x-8 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <Deliveries webhook={webhook} />
        <div className="min-w-0">
          <Section title={strings.details}>
            <Card>
              <WebhookDetails webhook={webhook} />
            </Card>
          </Section>
        </div>
      </div>
    </>
  )
}
