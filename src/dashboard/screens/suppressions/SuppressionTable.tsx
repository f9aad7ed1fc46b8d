import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer, createOrganizationApi } from '../../api/client.ts'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { EmailLink } from '../../components/actions/MailLink.tsx'
import { type Column, Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem } from '../../components/overlays/Menu.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status, type Tone } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { suppressionStrings as strings } from './strings.ts'
import type { Reason, Suppression } from './suppression.ts'

const tones: Readonly<Record<Reason, Tone>> = {
  hard_bounce: 'bad',
  complaint: 'warn',
  unsubscribe: 'off',
  manual: 'info',
}

interface SuppressionTableProps {
  readonly rows: readonly Suppression[]
  readonly mayRemove: boolean
}

/** Suppressed addresses, each with what caused it. */
export function SuppressionTable({ rows, mayRemove }: SuppressionTableProps) {
  const { organization, brand } = useOrganization()
  const queryClient = useQueryClient()
  const [removing, setRemoving] = useState<Suppression | null>(null)
  const columns: readonly Column<Suppression>[] = [
    { key: 'email', label: strings.address, isTitle: true, cell: ({ email }) => <SafeText text={email} /> },
    {
      key: 'reason',
      label: strings.reason,
      cell: ({ reason }) => <Status tone={tones[reason]}>{strings.reasons[reason]}</Status>,
    },
    {
      key: 'line',
      label: strings.line,
      isWide: true,
      cell: ({ evidence }) => (
        <span title={evidence ?? ''}>
          <SafeText text={evidence} none={strings.noLine} className="font-mono text-xs" />
        </span>
      ),
    },
    ...(brand || organization.brands.length < 2
      ? []
      : [
          {
            key: 'brand',
            label: strings.brand,
            cell: ({ brand_id }: Suppression) => (
              <SafeText text={organization.brands.find(({ id }) => id === brand_id)?.name ?? brand_id} />
            ),
          },
        ]),
    ...(rows.some(({ source_email_id }) => source_email_id !== null)
      ? [
          {
            key: 'source',
            label: strings.email,
            cell: ({ source_email_id, email }: Suppression) =>
              source_email_id && (
                <EmailLink id={source_email_id} label={strings.openEmailTo(email)}>
                  {strings.openEmail}
                </EmailLink>
              ),
          },
        ]
      : []),
    {
      key: 'until',
      label: strings.until,
      cell: ({ expires_at }) => <Time at={expires_at} show="day" none={strings.forever} />,
    },
    ...(mayRemove
      ? [
          {
            key: 'actions',
            label: strings.actions,
            isActions: true,
            cell: (row: Suppression) => (
              <Menu button={<IconButton size="small" label={strings.actionsOf(row.email)} icon={<Ellipsis />} />}>
                <MenuItem icon={<Trash2 />} isDanger onSelect={() => setRemoving(row)}>
                  {strings.remove}
                </MenuItem>
              </Menu>
            ),
          },
        ]
      : []),
  ]
  return (
    <>
      <Table
        label={strings.title}
        rows={rows}
        rowKey={({ brand_id, email }) => `${brand_id} ${email}`}
        columns={columns}
      />
      {removing && (
        <ConfirmDialog
          isOpen
          isDanger
          onClose={() => setRemoving(null)}
          title={strings.removeTitle}
          action={strings.remove}
          onConfirm={async () => {
            const { v1 } = createOrganizationApi(organization.id, removing.brand_id)
            await answer(v1.DELETE('/v1/suppressions/{email}', { params: { path: { email: removing.email } } }))
            showToast(strings.removed)
            await queryClient.invalidateQueries({ queryKey: ['suppressions'] })
          }}
        >
          <p>{strings.removeHint(removing.email)}</p>
          <p className="mt-2">{strings.removeWarning[removing.reason]}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
