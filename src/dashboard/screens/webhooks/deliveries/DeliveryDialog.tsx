import { RotateCw } from 'lucide-react'
import { Button } from '../../../components/actions/Button.tsx'
import { CopyField } from '../../../components/actions/CopyField.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { KeyValues } from '../../../components/lists/KeyValues.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { ResponseText } from '../ResponseText.tsx'
import { type Delivery, deliveryTones } from '../webhook.ts'
import { useRetry } from './delivery-pages.ts'
import { deliveryStrings as strings } from './strings.ts'

interface DeliveryDialogProps {
  readonly webhookId: string
  readonly delivery: Delivery
  readonly mayRetry: boolean
  readonly onClose: () => void
}

/** All that is known of a delivery. */
export function DeliveryDialog({ webhookId, delivery, mayRetry, onClose }: DeliveryDialogProps) {
  const retry = useRetry(webhookId)
  const { status, http_status, duration_ms, error, next_at } = delivery
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.detailTitle}
      footer={
        mayRetry && (
          <Button icon={<RotateCw />} isBusy={retry.isPending} onClick={() => retry.mutate(delivery.id)}>
            {strings.retry}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {retry.error && <Refusal error={retry.error} />}
        <KeyValues
          items={[
            [
              strings.event,
              <span key="type" className="font-mono text-xs">
                {delivery.type}
              </span>,
            ],
            [
              strings.status,
              <Status key="status" tone={deliveryTones[status]}>
                {strings.statuses[status]}
              </Status>,
            ],
            [strings.attempt, delivery.attempt],
            [strings.at, <Time key="at" at={delivery.at} show="full" />],
            next_at ? [strings.next, <Time key="next" at={next_at} show="full" />] : null,
            [strings.answered, http_status ?? strings.noAnswer],
            duration_ms === null ? null : [strings.took, strings.ms(duration_ms)],
            error ? [strings.error, <SafeText key="error" text={error} />] : null,
          ]}
        />
        {http_status !== null && <ResponseText text={delivery.response} />}
        <div>
          <CopyField label={strings.eventId} value={delivery.event_id} />
          <p className="mt-1.5 text-sm text-muted">{strings.sameId}</p>
        </div>
      </div>
    </Dialog>
  )
}
