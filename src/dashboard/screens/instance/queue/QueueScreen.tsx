import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChevronDown, Inbox, X } from 'lucide-react'
import { useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { LoadMore } from '../../../components/lists/LoadMore.tsx'
import { Menu, MenuItem } from '../../../components/overlays/Menu.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Tag } from '../../../components/text/Status.tsx'
import { usePages } from '../../../hooks/pages.ts'
import { BreakerNotices } from '../health/Processes.tsx'
import { QueueActionDialog } from './QueueActionDialog.tsx'
import { QueueFigures, QueueGroups } from './QueueCounts.tsx'
import { QueueRecipients } from './QueueRecipients.tsx'
import type { QueueActionName, QueueSelection } from './queue.ts'
import { queueStrings as strings } from './strings.ts'

const countsMs = 10_000
const actions = ['retry', 'hold', 'release', 'cancel'] as const
const statusOptions = [
  { value: 'any', label: strings.anyStatus },
  { value: 'queued', label: 'queued' },
  { value: 'delayed', label: 'delayed' },
  { value: 'scheduled', label: 'scheduled' },
  { value: 'held', label: strings.onlyHeld },
] as const

/** `/app/instance/queue`. */
export function QueueScreen() {
  const search = useSearch({ from: '/instance/queue' })
  const navigate = useNavigate({ from: '/instance/queue' })
  const [pending, setPending] = useState<{ action: QueueActionName; selection: QueueSelection } | null>(null)
  const summary = useQuery({
    queryKey: ['instance', 'queue', 'summary'],
    queryFn: () => answer(app.GET('/app/api/instance/queue')),
    refetchInterval: countsMs,
  })
  const health = useQuery({
    queryKey: ['instance', 'health', 'processes'],
    queryFn: () => answer(app.GET('/app/api/instance/health')),
  })
  const { organization, domain, status, held } = search
  const pages = usePages(['instance', 'queue', 'recipients', search], cursor =>
    answer(
      app.GET('/app/api/instance/queue/recipients', {
        params: {
          query: {
            ...(organization !== undefined && { organization_id: organization }),
            ...(domain !== undefined && { domain }),
            ...(status && { status }),
            ...(held && { held }),
            ...(cursor !== undefined && { cursor }),
          },
        },
      }),
    ),
  )
  const isFiltered = Object.keys(search).length > 0
  const selection: QueueSelection = isFiltered
    ? {
        ...(organization !== undefined && { organization_id: organization }),
        ...(domain !== undefined && { domain }),
        ...(status && { status }),
        ...(held && { is_held: true }),
      }
    : { is_all: true }
  const names = new Map(summary.data?.organizations.map(row => [row.organization_id, row.name]))
  const error = summary.error ?? pages.error
  return (
    <>
      <PageHeader title={strings.title}>{strings.hint}</PageHeader>
      {error && <Refusal error={error} />}
      <BreakerNotices processes={health.data?.processes ?? []} />
      {summary.data && <QueueFigures queue={summary.data.queue} />}
      {summary.data && summary.data.queue.total > 0 && <QueueGroups {...summary.data} />}
      {pages.rows === null && !error && <SkeletonRows />}
      {pages.rows?.length === 0 && !isFiltered && (
        <EmptyState icon={<Inbox />} title={strings.empty}>
          {strings.emptyHint}
        </EmptyState>
      )}
      {(isFiltered || (pages.rows?.length ?? 0) > 0) && (
        <Section
          title={strings.recipients}
          actions={
            (pages.rows?.length ?? 0) > 0 && (
              <Menu button={<Button icon={<ChevronDown />}>{strings.act}</Button>}>
                {actions.map(action => (
                  <MenuItem
                    key={action}
                    isDanger={action === 'cancel'}
                    onSelect={() => setPending({ action, selection })}
                  >
                    {strings.actions[action].name}
                  </MenuItem>
                ))}
              </Menu>
            )
          }
        >
          <div className="mb-3 flex min-w-0">
            <Segmented
              label={strings.status}
              value={held ? 'held' : (status ?? 'any')}
              onValue={value =>
                void navigate({
                  search: ({ status: _status, held: _held, ...rest }) => ({
                    ...rest,
                    ...(value === 'held' ? { held: 'true' as const } : value === 'any' ? {} : { status: value }),
                  }),
                })
              }
              options={statusOptions}
            />
          </div>
          {(organization !== undefined || domain !== undefined) && (
            <div className="mb-3 flex flex-wrap items-center gap-2 text-sm text-muted">
              {strings.filtered}
              <Tag>
                <SafeText text={domain ?? names.get(organization ?? '') ?? organization ?? ''} />
              </Tag>
              <Button size="small" kind="quiet" icon={<X />} onClick={() => void navigate({ search: {} })}>
                {strings.clear}
              </Button>
            </div>
          )}
          {pages.rows?.length === 0 && (
            <EmptyState icon={<Inbox />} title={strings.noneMatch}>
              {strings.noneMatchHint}
            </EmptyState>
          )}
          {pages.rows && pages.rows.length > 0 && (
            <QueueRecipients
              rows={pages.rows}
              onAct={(action, id) => setPending({ action, selection: { email_ids: [id] } })}
            />
          )}
          <LoadMore hasMore={pages.hasMore} isLoading={pages.isLoadingMore} onMore={pages.loadMore} />
        </Section>
      )}
      {pending && <QueueActionDialog {...pending} onClose={() => setPending(null)} />}
    </>
  )
}
