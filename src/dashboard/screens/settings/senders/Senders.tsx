import { useQueryClient } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import type { components } from '../../../api/generated/app.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { LoadMore } from '../../../components/lists/LoadMore.tsx'
import { Table } from '../../../components/lists/Table.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { usePages } from '../../../hooks/pages.ts'
import { SenderDialog } from './SenderDialog.tsx'
import { senderStrings as strings } from './strings.ts'

type ListedSender = components['schemas']['SenderPage']['data'][number]

/** The senders that are allowed and blocked: for owners and admins. */
export function Senders() {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [failed, setFailed] = useState<unknown>(null)
  const list = usePages<ListedSender>(['senders', wholeApi.organizationId], cursor =>
    answer(
      wholeApi.app.GET('/app/api/organization/senders', {
        params: { query: { ...(cursor !== undefined && { cursor }) } },
      }),
    ),
  )
  const remove = async (sender: string) => {
    setFailed(null)
    try {
      await answer(wholeApi.app.POST('/app/api/organization/senders/remove', { body: { sender } }))
      showToast(strings.removed(sender))
      await queryClient.invalidateQueries({ queryKey: ['senders'] })
    } catch (thrown) {
      setFailed(thrown)
    }
  }
  const problem = list.error ?? failed
  return (
    <Section
      title={strings.title}
      hint={strings.hint}
      actions={
        <Button size="small" icon={<Plus />} onClick={() => setAdding(true)}>
          {strings.add}
        </Button>
      }
    >
      {problem !== null && problem !== undefined && <Refusal error={problem} />}
      {!list.rows && !list.error && <SkeletonRows rows={2} />}
      {list.rows?.length === 0 && <p className="text-sm text-muted">{strings.none}</p>}
      {list.rows && list.rows.length > 0 && (
        <Table
          label={strings.title}
          rows={list.rows}
          rowKey={({ sender }) => sender}
          columns={[
            {
              key: 'sender',
              label: strings.sender,
              isTitle: true,
              isWide: true,
              cell: ({ sender }) => <SafeText text={sender} />,
            },
            {
              key: 'listing',
              label: strings.listing,
              cell: ({ listing }) => (
                <Status tone={listing === 'allow' ? 'good' : 'bad'}>{strings.listings[listing]}</Status>
              ),
            },
            { key: 'since', label: strings.since, cell: ({ created_at }) => <Time at={created_at} show="day" /> },
            {
              key: 'actions',
              label: strings.actions,
              isActions: true,
              cell: ({ sender }) => (
                <IconButton
                  size="small"
                  label={strings.remove(sender)}
                  icon={<Trash2 />}
                  onClick={() => void remove(sender)}
                />
              ),
            },
          ]}
        />
      )}
      <LoadMore hasMore={list.hasMore} isLoading={list.isLoadingMore} onMore={list.loadMore} />
      {isAdding && <SenderDialog onClose={() => setAdding(false)} />}
    </Section>
  )
}
