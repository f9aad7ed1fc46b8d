import { Link } from '@tanstack/react-router'
import { eventTypes } from '../../components/events/event-types.ts'
import { type Column, Table } from '../../components/lists/Table.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { keepBrand } from '../../shell/navigation/useGoShortcuts.ts'
import { Lag } from './Lag.tsx'
import { webhookStrings as strings } from './strings.ts'
import { type Webhook, webhookTones } from './webhook.ts'

/** Endpoints, a row each; its address opens it. */
export function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  const { organization, brand } = useOrganization()
  const columns: readonly Column<Webhook>[] = [
    { key: 'url', label: strings.url, isTitle: true, isWide: true, cell: webhook => <WebhookLink webhook={webhook} /> },
    {
      key: 'status',
      label: strings.status,
      cell: webhook => <WebhookStatus webhook={webhook} />,
    },
    { key: 'types', label: strings.gets, cell: ({ types }) => <Types types={types} /> },
    ...(brand || organization.brands.length < 2
      ? []
      : [
          {
            key: 'brand',
            label: strings.brand,
            cell: ({ brand_id }: Webhook) =>
              brand_id === null ? (
                strings.allBrands
              ) : (
                <SafeText text={organization.brands.find(({ id }) => id === brand_id)?.name ?? brand_id} />
              ),
          },
        ]),
    { key: 'lag', label: strings.lag, cell: ({ id }) => <Lag webhookId={id} /> },
    { key: 'success', label: strings.lastSuccess, cell: ({ last_success_at }) => <Time at={last_success_at} /> },
  ]
  return <Table label={strings.title} rows={webhooks} rowKey={({ id }) => id} columns={columns} />
}

/** The state, and why it is so. */
function WebhookStatus({ webhook: { status, disabled_reason, failing_since } }: { readonly webhook: Webhook }) {
  return (
    <>
      <Status tone={webhookTones[status]}>{strings.statuses[status]}</Status>
      {status === 'disabled' && disabled_reason && (
        <span className="block text-xs text-muted">{strings.reasons[disabled_reason]}</span>
      )}
      {status === 'failing' && failing_since && (
        <span className="block text-xs text-muted">
          {strings.since} <Time at={failing_since} />
        </span>
      )}
    </>
  )
}

function WebhookLink({ webhook: { id, url, description } }: { readonly webhook: Webhook }) {
  const { organization } = useOrganization()
  return (
    <Link
      to="/$organization/webhooks/$webhook"
      params={{ organization: organization.id, webhook: id }}
      search={keepBrand}
      className="block min-w-0 truncate rounded-sm hover:underline"
    >
      <SafeText text={url} className="font-mono text-xs" />
      {description && (
        <span className="block truncate text-xs font-normal text-muted">
          <SafeText text={description} />
        </span>
      )}
    </Link>
  )
}

function Types({ types }: { readonly types: readonly string[] }) {
  const [only] = types
  return (
    <span title={types.join('\n')}>
      {types.length >= eventTypes.length
        ? strings.allTypes
        : types.length === 1 && only
          ? only
          : strings.types(types.length)}
    </span>
  )
}
