import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useWebhookApi } from '../useWebhookApi.ts'
import { enableWebhook, type Webhook } from '../webhook.ts'
import { endpointStrings as strings } from './strings.ts'

/** Why an endpoint gets nothing, and what to do; nothing when it is well. */
export function WebhookNotice({ webhook }: { readonly webhook: Webhook }) {
  if (webhook.status === 'active') return null
  return (
    <div className="mb-6">
      {webhook.status === 'disabled' ? (
        <DisabledNotice webhook={webhook} />
      ) : (
        <Notice
          tone="warn"
          title={
            <>
              {strings.failingSince} <Time at={webhook.failing_since} show="full" />
            </>
          }
        >
          {strings.failingHint}
        </Notice>
      )}
    </div>
  )
}

function DisabledNotice({ webhook }: { readonly webhook: Webhook }) {
  const { may } = useOrganization()
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  const enable = useMutation({
    mutationFn: () => enableWebhook(api, webhook.id, true),
    onSuccess: () => {
      showToast(strings.enabled)
      return queryClient.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  return (
    <div className="flex flex-col gap-3">
      <Notice
        tone="bad"
        title={strings.disabledTitle}
        action={
          may('webhooks:write') && (
            <Button size="small" icon={<Play />} isBusy={enable.isPending} onClick={() => enable.mutate()}>
              {strings.enable}
            </Button>
          )
        }
      >
        {webhook.disabled_reason && <p>{strings.disabledBecause[webhook.disabled_reason]}</p>}
        <p>{strings.disabledSince}</p>
      </Notice>
      {enable.error && <Refusal error={enable.error} />}
    </div>
  )
}
