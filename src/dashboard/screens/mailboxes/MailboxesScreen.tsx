import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Inbox, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { queryKey } from '../../api/keys.ts'
import type { components } from '../../api/v1.ts'
import { Button } from '../../components/actions/Button.tsx'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { LinkButton } from '../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../components/feedback/EmptyState.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { Count } from '../../components/text/Amount.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status, Tag } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { NewMailboxDialog } from './NewMailboxDialog.tsx'
import { mailboxStrings as strings } from './strings.ts'

type Mailbox = components['schemas']['Mailbox']

/** `/app/<organization>/mailboxes` */
export function MailboxesScreen() {
  const { api, may, organization } = useOrganization()
  const queryClient = useQueryClient()
  const [isCreating, setCreating] = useState(false)
  const [removed, setRemoved] = useState<Mailbox | null>(null)
  const mailboxes = useQuery({
    queryKey: queryKey('mailboxes', api),
    queryFn: () => answer(api.v1.GET('/v1/mailboxes')),
  })
  const domains = useQuery({
    queryKey: queryKey('domains', api),
    queryFn: () => answer(api.v1.GET('/v1/domains')),
    enabled: may('domains:read'),
  })
  const rows = mailboxes.data?.data
  const mayCreate = may('inbox:write') && (domains.data?.data.length ?? 0) > 0
  const add = mayCreate && (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      {strings.add}
    </Button>
  )
  const params = { organization: organization.id }
  const remove = async () => {
    if (!removed) return
    await answer(api.v1.DELETE('/v1/mailboxes/{id}', { params: { path: { id: removed.id } } }))
    await queryClient.invalidateQueries({ queryKey: ['mailboxes'] })
    showToast(strings.deleted(removed.address))
  }
  return (
    <>
      <PageHeader title={strings.title} actions={rows && rows.length > 0 && add}>
        {strings.hint}
      </PageHeader>
      {mailboxes.error && <Refusal error={mailboxes.error} />}
      {!rows && !mailboxes.error && <SkeletonRows />}
      {rows?.length === 0 &&
        (domains.data?.data.length === 0 && may('domains:write') ? (
          <EmptyState
            icon={<Inbox />}
            title={strings.noDomain}
            action={
              <LinkButton to="/$organization/domains/new" params={params} kind="primary">
                {strings.addDomain}
              </LinkButton>
            }
          >
            {strings.noDomainHint}
          </EmptyState>
        ) : (
          <EmptyState icon={<Inbox />} title={strings.empty} action={add}>
            {strings.emptyHint}
          </EmptyState>
        ))}
      {rows && rows.length > 0 && (
        <Table
          label={strings.title}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'address',
              label: strings.address,
              isTitle: true,
              isWide: true,
              cell: ({ address, catch_all }) => (
                <span className="inline-flex max-w-full items-center gap-2">
                  <span className="min-w-0 truncate">
                    <SafeText text={address} />
                  </span>
                  {catch_all && <Tag>{strings.catchAll}</Tag>}
                </span>
              ),
            },
            {
              key: 'unread',
              label: strings.unread,
              align: 'right',
              cell: ({ unread_count }) => <Count value={unread_count} />,
            },
            {
              key: 'state',
              label: strings.state,
              cell: ({ live, domain_id }) =>
                live ? (
                  <Status tone="good">{strings.live}</Status>
                ) : (
                  <Link
                    to="/$organization/domains/$domain"
                    params={{ ...params, domain: domain_id }}
                    className="rounded-sm hover:underline"
                  >
                    <Status tone="warn">{strings.notLive}</Status>
                  </Link>
                ),
            },
            { key: 'created', label: strings.created, cell: ({ created_at }) => <Time at={created_at} show="day" /> },
            {
              key: 'actions',
              label: strings.actions,
              isActions: true,
              cell: mailbox =>
                may('inbox:write') && (
                  <IconButton
                    size="small"
                    label={`${strings.delete}: ${mailbox.address}`}
                    icon={<Trash2 />}
                    onClick={() => setRemoved(mailbox)}
                  />
                ),
            },
          ]}
        />
      )}
      {isCreating && <NewMailboxDialog domains={domains.data?.data ?? []} onClose={() => setCreating(false)} />}
      {removed && (
        <ConfirmDialog
          isOpen
          onClose={() => setRemoved(null)}
          title={strings.deleteTitle(removed.address)}
          action={strings.delete}
          isDanger
          onConfirm={remove}
        >
          {strings.deleteHint}
        </ConfirmDialog>
      )}
    </>
  )
}
