import { useNavigate, useSearch } from '@tanstack/react-router'
import { History, SendHorizontal } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { LoadMore } from '../../../components/lists/LoadMore.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import type { Webhook } from '../webhook.ts'
import { DeliveryDialog } from './DeliveryDialog.tsx'
import { DeliveryTable } from './DeliveryTable.tsx'
import { type DeliveryFilter, readDeliveryFilter, spans } from './delivery-filter.ts'
import { useDeliveries } from './delivery-pages.ts'
import { ReplayDialog } from './ReplayDialog.tsx'
import { deliveryStrings as strings } from './strings.ts'

/** What was sent to an endpoint, and what became of it. */
export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const { may } = useOrganization()
  const filter = readDeliveryFilter(useSearch({ from: '/$organization/webhooks/$webhook' }))
  const list = useDeliveries(webhook.id, filter)
  const [openId, setOpenId] = useState<string | null>(null)
  const [isReplaying, setReplaying] = useState(false)
  const opened = list.rows?.find(({ id }) => id === openId)
  // A disabled endpoint is enabled first.
  const maySend = may('webhooks:write') && webhook.status !== 'disabled'
  const isFiltered = filter.status !== undefined || filter.since !== undefined
  return (
    <Section
      title={strings.title}
      hint={strings.hint}
      actions={
        maySend && (
          <Button size="small" icon={<History />} onClick={() => setReplaying(true)}>
            {strings.replay}
          </Button>
        )
      }
    >
      <FilterControls {...filter} />
      {list.error && <Refusal error={list.error} />}
      {!list.rows && !list.error && <SkeletonRows rows={5} />}
      {list.rows?.length === 0 && (
        <EmptyState icon={<SendHorizontal />} title={isFiltered ? strings.emptyFiltered : strings.empty}>
          {isFiltered ? strings.emptyFilteredHint : strings.emptyHint}
        </EmptyState>
      )}
      {list.rows && list.rows.length > 0 && (
        <DeliveryTable
          webhookId={webhook.id}
          deliveries={list.rows}
          mayRetry={maySend}
          onOpen={({ id }) => setOpenId(id)}
        />
      )}
      <LoadMore hasMore={list.hasMore} isLoading={list.isLoadingMore} onMore={list.loadMore} />
      {opened && (
        <DeliveryDialog webhookId={webhook.id} delivery={opened} mayRetry={maySend} onClose={() => setOpenId(null)} />
      )}
      {isReplaying && <ReplayDialog webhook={webhook} onClose={() => setReplaying(false)} />}
    </Section>
  )
}

function FilterControls({ status, since }: DeliveryFilter) {
  const navigate = useNavigate({ from: '/$organization/webhooks/$webhook' })
  const change = (changed: Readonly<Record<string, string>>) =>
    void navigate({
      search: ({ brand, ...filter }) => ({
        ...(brand && { brand }),
        ...readDeliveryFilter({ ...filter, ...changed }),
      }),
    })
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <Segmented
        label={strings.filter}
        value={status ?? ''}
        onValue={value => change({ status: value })}
        options={[
          { value: '', label: strings.all },
          { value: 'delivered', label: strings.statuses.delivered },
          { value: 'retrying', label: strings.statuses.retrying },
          { value: 'failed', label: strings.statuses.failed },
        ]}
      />
      <select
        aria-label={strings.since}
        className="input w-auto pr-8"
        value={since ?? ''}
        onChange={event => change({ since: event.currentTarget.value })}
      >
        <option value="">{strings.anyTime}</option>
        {spans.map(span => (
          <option key={span} value={span}>
            {strings.spans[span]}
          </option>
        ))}
      </select>
    </div>
  )
}
