import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { allScopes, type Scope } from '../../components/access/scopes.ts'
import { accessStrings } from '../../components/access/strings.ts'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem } from '../../components/overlays/Menu.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status, type Tone } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import type { ApiKey } from './keys.ts'
import { presetOf } from './presets.ts'
import { keyStrings as strings } from './strings.ts'

const tones: Readonly<Record<ApiKey['state'], Tone>> = {
  active: 'good',
  suspended: 'warn',
  disabled: 'warn',
  expired: 'off',
  revoked: 'off',
}

/** Keys, a row each, and their revocation. */
export function KeyTable({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  return (
    <>
      <Table
        label={strings.title}
        rows={keys}
        rowKey={({ id }) => id}
        columns={[
          { key: 'name', label: strings.name, isTitle: true, isWide: true, cell: key => <KeyName apiKey={key} /> },
          { key: 'may', label: strings.may, cell: key => <Scopes apiKey={key} /> },
          {
            key: 'brand',
            label: strings.brand,
            cell: ({ brand }) => (brand ? <SafeText text={brand.name} /> : strings.wholeOrganization),
          },
          {
            key: 'owner',
            label: strings.owner,
            cell: ({ member }) =>
              member ? <SafeText text={member.email} none={strings.removed} /> : strings.organization,
          },
          { key: 'used', label: strings.lastUsed, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          { key: 'expires', label: strings.expires, cell: ({ expires_at }) => <Time at={expires_at} show="day" /> },
          {
            key: 'state',
            label: strings.state,
            cell: ({ state, state_detail }) => (
              <Status tone={tones[state]} {...(state_detail && { title: state_detail })}>
                {strings.states[state]}
              </Status>
            ),
          },
          {
            key: 'actions',
            label: strings.actions,
            isActions: true,
            cell: key =>
              key.state !== 'revoked' && (
                <Menu button={<IconButton size="small" label={strings.actionsOf(key.name)} icon={<Ellipsis />} />}>
                  <MenuItem icon={<Trash2 />} isDanger onSelect={() => setRevoking(key)}>
                    {strings.revoke}
                  </MenuItem>
                </Menu>
              ),
          },
        ]}
      />
      {revoking && (
        <ConfirmDialog
          isOpen
          isDanger
          onClose={() => setRevoking(null)}
          title={strings.revokeTitle(revoking.name)}
          action={strings.revoke}
          onConfirm={async () => {
            await answer(wholeApi.app.DELETE('/app/api/keys/{id}', { params: { path: { id: revoking.id } } }))
            showToast(strings.revoked(revoking.name))
            await queryClient.invalidateQueries({ queryKey: ['keys'] })
          }}
        >
          <p>{strings.revokeHint}</p>
          {wasJustUsed(revoking) && <p className="mt-2 font-medium text-warn">{strings.lastUsedWarning}</p>}
        </ConfirmDialog>
      )}
    </>
  )
}

const hourMs = 3_600_000

function wasJustUsed({ last_used_at }: ApiKey): boolean {
  return last_used_at !== null && Date.now() - Date.parse(last_used_at) < hourMs
}

function KeyName({ apiKey }: { readonly apiKey: ApiKey }) {
  const maker = apiKey.maker?.email
  return (
    <span title={maker ? strings.by(maker) : strings.byCommand}>
      <SafeText text={apiKey.name} />
    </span>
  )
}

function Scopes({ apiKey: { scopes } }: { readonly apiKey: ApiKey }) {
  const words = scopes.map(scope => accessStrings.scopes[scope])
  return <span title={words.join('\n')}>{summaryOf(scopes)}</span>
}

function summaryOf(scopes: readonly Scope[]): string {
  const preset = presetOf(scopes)
  const [only] = scopes
  if (preset) return strings.presets[preset].label
  if (scopes.length === 1 && only) return accessStrings.scopes[only]
  return scopes.length === allScopes.length ? strings.everythingAndMembers : strings.chosen(scopes.length)
}
