import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, SlidersHorizontal, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import type { components } from '../../api/v1.ts'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { LoadMore } from '../../components/lists/LoadMore.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem } from '../../components/overlays/Menu.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { AccessDialog } from './AccessDialog.tsx'
import { AccessSummary } from './AccessSummary.tsx'
import { peopleStrings as strings } from './strings.ts'

type Invitation = components['schemas']['Invitation']

interface OpenAct {
  readonly kind: 'access' | 'revoke'
  readonly invitation: Invitation
}

/** Invitations that were not accepted yet. */
export function Invitations() {
  const { wholeApi } = useOrganization()
  const [act, setAct] = useState<OpenAct | null>(null)
  const { rows, error, hasMore, isLoadingMore, loadMore } = usePages<Invitation>(
    ['invitations', wholeApi.organizationId],
    cursor => answer(wholeApi.v1.GET('/v1/invitations', { params: { query: cursor === undefined ? {} : { cursor } } })),
  )
  return (
    <Section title={strings.invitations} hint={strings.invitationsHint}>
      {error && <Refusal error={error} />}
      {!rows && !error && <SkeletonRows rows={2} />}
      {rows?.length === 0 && <p className="text-sm text-muted">{strings.noInvitations}</p>}
      {rows && rows.length > 0 && (
        <Table
          label={strings.invitations}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            {
              key: 'who',
              label: strings.who,
              isTitle: true,
              isWide: true,
              cell: ({ email }) => <SafeText text={email} none={strings.anyone} />,
            },
            {
              key: 'access',
              label: strings.access,
              cell: ({ brand_ids, permissions }) => <AccessSummary brandIds={brand_ids} permissions={permissions} />,
            },
            { key: 'expires', label: strings.expires, cell: ({ expires_at }) => <Time at={expires_at} /> },
            {
              key: 'actions',
              label: strings.actions,
              isActions: true,
              cell: invitation => (
                <Menu
                  button={
                    <IconButton
                      size="small"
                      label={strings.actionsOf(invitation.email ?? strings.anyone)}
                      icon={<Ellipsis />}
                    />
                  }
                >
                  <MenuItem icon={<SlidersHorizontal />} onSelect={() => setAct({ kind: 'access', invitation })}>
                    {strings.changeAccess}
                  </MenuItem>
                  <MenuItem icon={<Trash2 />} isDanger onSelect={() => setAct({ kind: 'revoke', invitation })}>
                    {strings.revoke}
                  </MenuItem>
                </Menu>
              ),
            },
          ]}
        />
      )}
      <LoadMore hasMore={hasMore} isLoading={isLoadingMore} onMore={loadMore} />
      {act && <ActDialog act={act} onClose={() => setAct(null)} />}
    </Section>
  )
}

function ActDialog({ act: { kind, invitation }, onClose }: { readonly act: OpenAct; readonly onClose: () => void }) {
  const { organization, wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const params = { path: { id: invitation.id } }
  const reload = () => queryClient.invalidateQueries({ queryKey: ['invitations'] })
  if (kind === 'access')
    return (
      <AccessDialog
        title={strings.accessTitle(invitation.email ?? strings.anyone)}
        brands={organization.brands}
        stored={invitation}
        onClose={onClose}
        onRead={() => answer(wholeApi.v1.GET('/v1/invitations/{id}', { params }))}
        onSave={async body => {
          const saved = await answer(wholeApi.v1.PATCH('/v1/invitations/{id}', { params, body }))
          await reload()
          return saved
        }}
      />
    )
  return (
    <ConfirmDialog
      isOpen
      isDanger
      onClose={onClose}
      title={strings.revokeTitle}
      action={strings.revoke}
      onConfirm={async () => {
        await answer(wholeApi.v1.DELETE('/v1/invitations/{id}', { params }))
        showToast(strings.revoked)
        await reload()
      }}
    >
      {strings.revokeHint}
    </ConfirmDialog>
  )
}
