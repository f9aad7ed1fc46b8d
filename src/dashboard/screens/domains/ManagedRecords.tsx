import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, Pencil, Plus, ServerOff, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { isRefusal } from '../../api/errors.ts'
import { queryKey } from '../../api/keys.ts'
import { Button } from '../../components/actions/Button.tsx'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { LoadMore } from '../../components/lists/LoadMore.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem } from '../../components/overlays/Menu.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { AddRecordDialog, EditRecordDialog } from './RecordDialogs.tsx'
import { managedRecordStrings as strings } from './strings.ts'
import type { ManagedRecord } from './types.ts'

/** The records at and below a domain in the zone; those of Mailroom are read-only. */
export function ManagedRecords({ domainId }: { readonly domainId: string }) {
  const { api, may } = useOrganization()
  const queryClient = useQueryClient()
  const [dialog, setDialog] = useState<'add' | ManagedRecord | null>(null)
  const [removed, setRemoved] = useState<ManagedRecord | null>(null)
  const { rows, error, hasMore, isLoadingMore, loadMore } = usePages(
    queryKey('domains', api, domainId, 'records'),
    cursor =>
      answer(
        api.v1.GET('/v1/domains/{id}/dns/records', {
          params: { path: { id: domainId }, query: cursor === undefined ? {} : { cursor } },
        }),
      ),
  )
  if (isRefusal(error, 'dns_provider_not_configured') || isRefusal(error, 'dns_zone_not_accessible'))
    return (
      <EmptyState icon={<ServerOff />} title={strings.noZone}>
        {error.message} {error.resolution}
      </EmptyState>
    )
  const remove = async () => {
    if (!removed) return
    const path = { id: domainId, record_id: removed.id }
    await answer(api.v1.DELETE('/v1/domains/{id}/dns/records/{record_id}', { params: { path } }))
    await queryClient.invalidateQueries({ queryKey: ['domains'] })
    showToast(strings.removed)
  }
  const actions = (record: ManagedRecord) =>
    record.managed_by === 'user' &&
    may('domains:write') && (
      <Menu button={<IconButton size="small" label={strings.actions} icon={<Ellipsis />} />}>
        <MenuItem icon={<Pencil />} onSelect={() => setDialog(record)}>
          {strings.edit}
        </MenuItem>
        <MenuItem icon={<Trash2 />} isDanger onSelect={() => setRemoved(record)}>
          {strings.remove}
        </MenuItem>
      </Menu>
    )
  return (
    <Section
      title={strings.title}
      hint={strings.hint}
      actions={
        may('domains:write') && (
          <Button size="small" icon={<Plus />} onClick={() => setDialog('add')}>
            {strings.add}
          </Button>
        )
      }
    >
      {error && <Refusal error={error} />}
      {!rows && !error && <SkeletonRows rows={5} />}
      {rows && rows.length > 0 && (
        <Table
          label={strings.title}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { key: 'name', label: strings.name, isTitle: true, cell: ({ name }) => <SafeText text={name} /> },
            { key: 'type', label: strings.type, cell: ({ type }) => type },
            {
              key: 'value',
              label: strings.value,
              isWide: true,
              cell: ({ value, priority }) => (
                <span className="font-mono text-xs" title={value}>
                  <SafeText text={priority === null ? value : `${priority} ${value}`} />
                </span>
              ),
            },
            {
              key: 'managed',
              label: strings.managedBy,
              cell: ({ managed_by }) => (managed_by === 'mailroom' ? strings.mailroom : strings.you),
            },
            { key: 'actions', label: strings.actions, isActions: true, cell: actions },
          ]}
        />
      )}
      <LoadMore hasMore={hasMore} isLoading={isLoadingMore} onMore={loadMore} />
      {dialog === 'add' && <AddRecordDialog domainId={domainId} onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== 'add' && (
        <EditRecordDialog domainId={domainId} record={dialog} onClose={() => setDialog(null)} />
      )}
      {removed && (
        <ConfirmDialog
          isOpen
          onClose={() => setRemoved(null)}
          title={strings.removeTitle(removed.type, removed.name)}
          action={strings.remove}
          isDanger
          onConfirm={remove}
        >
          {strings.removeHint}
        </ConfirmDialog>
      )}
    </Section>
  )
}
