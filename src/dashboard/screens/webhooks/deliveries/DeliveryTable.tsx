import { RotateCw } from 'lucide-react'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { type Column, Table } from '../../../components/lists/Table.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { type Delivery, deliveryTones } from '../webhook.ts'
import { useRetry } from './delivery-pages.ts'
import { deliveryStrings as strings } from './strings.ts'

interface DeliveryTableProps {
  readonly webhookId: string
  readonly deliveries: readonly Delivery[]
  readonly mayRetry: boolean
  readonly onOpen: (delivery: Delivery) => void
}

/** Deliveries, a row each; the event opens what is known of it. */
export function DeliveryTable({ webhookId, deliveries, mayRetry, onOpen }: DeliveryTableProps) {
  const retry = useRetry(webhookId)
  const columns: readonly Column<Delivery>[] = [
    {
      key: 'event',
      label: strings.event,
      isTitle: true,
      cell: delivery => (
        <button
          type="button"
          aria-label={strings.open(delivery.type)}
          className="max-w-full truncate rounded-sm font-mono text-xs hover:underline"
          onClick={() => onOpen(delivery)}
        >
          {delivery.type}
        </button>
      ),
    },
    { key: 'status', label: strings.status, cell: delivery => <DeliveryStatus delivery={delivery} /> },
    {
      key: 'answer',
      label: strings.answered,
      cell: ({ http_status, duration_ms }) => (
        <span className="tabular">
          {http_status ?? strings.noAnswer}
          {duration_ms !== null && <span className="text-faint"> · {strings.ms(duration_ms)}</span>}
        </span>
      ),
    },
    { key: 'attempt', label: strings.attempt, align: 'right', cell: ({ attempt }) => attempt },
    { key: 'at', label: strings.at, cell: ({ at }) => <Time at={at} /> },
    ...(mayRetry
      ? [
          {
            key: 'actions',
            label: strings.actions,
            isActions: true,
            cell: ({ id, type }: Delivery) => (
              <IconButton
                size="small"
                label={`${strings.retry}: ${type}`}
                icon={<RotateCw />}
                onClick={() => retry.mutate(id)}
              />
            ),
          },
        ]
      : []),
  ]
  return (
    <>
      {retry.error && (
        <div className="mb-3">
          <Refusal error={retry.error} />
        </div>
      )}
      <Table label={strings.title} rows={deliveries} rowKey={({ id }) => id} columns={columns} />
    </>
  )
}

/** What became of it, and when it is tried again. */
function DeliveryStatus({ delivery: { status, error, next_at } }: { readonly delivery: Delivery }) {
  return (
    <>
      <Status tone={deliveryTones[status]} {...(error && { title: error })}>
        {strings.statuses[status]}
      </Status>
      {next_at && (
        <span className="block text-xs text-muted">
          {strings.again} <Time at={next_at} />
        </span>
      )}
    </>
  )
}
