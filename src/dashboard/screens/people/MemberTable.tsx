import { useQueryClient } from '@tanstack/react-query'
import { Ellipsis, LogOut, ShieldCheck, SlidersHorizontal, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { Table } from '../../components/lists/Table.tsx'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/overlays/Menu.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { Avatar } from '../../components/text/Avatar.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status, Tag } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { AccessDialog } from './AccessDialog.tsx'
import { AccessSummary } from './AccessSummary.tsx'
import type { Person } from './people.ts'
import { RemoveDialog } from './RemoveDialog.tsx'
import { RoleDialog } from './RoleDialog.tsx'
import { peopleStrings as strings } from './strings.ts'

/** What is being done to whom. The person is the one whose menu was opened, whatever the list does meanwhile. */
interface OpenAct {
  readonly kind: 'access' | 'role' | 'end' | 'remove'
  readonly person: Person
}

/** The members of the organization, and what can be done to each. */
export function MemberTable({ people }: { readonly people: readonly Person[] }) {
  const { organization } = useOrganization()
  const [act, setAct] = useState<OpenAct | null>(null)
  return (
    <>
      <Table
        label={strings.members}
        rows={people}
        rowKey={({ id }) => id}
        columns={[
          { key: 'name', label: strings.name, isTitle: true, isWide: true, cell: person => <Name person={person} /> },
          { key: 'role', label: strings.role, cell: ({ role }) => strings.roles[role] },
          {
            key: 'access',
            label: strings.access,
            cell: ({ brand_ids, permissions }) => <AccessSummary brandIds={brand_ids} permissions={permissions} />,
          },
          { key: 'factors', label: strings.signIn, cell: person => <SignsInWith person={person} /> },
          {
            key: 'sessions',
            label: strings.sessions,
            cell: ({ factors }) =>
              factors?.sessions ? (
                strings.sessionCount(factors.sessions)
              ) : (
                <span className="text-faint">{strings.nowhere}</span>
              ),
          },
          { key: 'active', label: strings.lastActive, cell: ({ last_active_at }) => <Time at={last_active_at} /> },
          {
            key: 'actions',
            label: strings.actions,
            isActions: true,
            cell: person => (
              <MemberMenu person={person} ownRole={organization.role} onAct={kind => setAct({ kind, person })} />
            ),
          },
        ]}
      />
      {act && <ActDialog act={act} onClose={() => setAct(null)} />}
    </>
  )
}

interface MemberMenuProps {
  readonly person: Person
  readonly ownRole: Person['role']
  readonly onAct: (kind: OpenAct['kind']) => void
}

/** What one may not do is absent: only owners touch roles, and remove owners and admins. */
function MemberMenu({ person, ownRole, onAct }: MemberMenuProps) {
  const isLimited = person.role === 'member'
  const mayRemove = isLimited || ownRole === 'owner'
  const hasSessions = (person.factors?.sessions ?? 0) > 0
  if (!isLimited && ownRole !== 'owner' && !hasSessions) return null
  return (
    <Menu button={<IconButton size="small" label={strings.actionsOf(person.name)} icon={<Ellipsis />} />}>
      {isLimited && (
        <MenuItem icon={<SlidersHorizontal />} onSelect={() => onAct('access')}>
          {strings.changeAccess}
        </MenuItem>
      )}
      {ownRole === 'owner' && (
        <MenuItem icon={<ShieldCheck />} onSelect={() => onAct('role')}>
          {strings.changeRole}
        </MenuItem>
      )}
      {hasSessions && (
        <MenuItem icon={<LogOut />} onSelect={() => onAct('end')}>
          {strings.endSessions}
        </MenuItem>
      )}
      {mayRemove && <MenuSeparator />}
      {mayRemove && (
        <MenuItem icon={<UserMinus />} isDanger onSelect={() => onAct('remove')}>
          {strings.remove}
        </MenuItem>
      )}
    </Menu>
  )
}

function ActDialog({ act: { kind, person }, onClose }: { readonly act: OpenAct; readonly onClose: () => void }) {
  const { organization, wholeApi } = useOrganization()
  const queryClient = useQueryClient()
  const params = { path: { id: person.id } }
  const done = (text: string) => {
    showToast(text)
    void queryClient.invalidateQueries({ queryKey: ['people'] })
    void queryClient.invalidateQueries({ queryKey: ['keys'] })
  }
  switch (kind) {
    case 'access':
      return (
        <AccessDialog
          title={strings.accessTitle(person.name)}
          brands={organization.brands}
          stored={person}
          onClose={onClose}
          onRead={() => answer(wholeApi.v1.GET('/v1/members/{id}', { params }))}
          onSave={async body => {
            const saved = await answer(wholeApi.v1.PATCH('/v1/members/{id}', { params, body }))
            done(strings.changed(person.name))
            return saved
          }}
        />
      )
    case 'role':
      return <RoleDialog person={person} onClose={onClose} onChanged={() => done(strings.changed(person.name))} />
    case 'end':
      return (
        <ConfirmDialog
          isOpen
          onClose={onClose}
          title={strings.endTitle(person.name)}
          action={strings.endSessions}
          onConfirm={async () => {
            await answer(wholeApi.app.POST('/app/api/people/{id}/end-sessions', { params }))
            done(strings.ended(person.name))
          }}
        >
          {strings.endHint}
        </ConfirmDialog>
      )
    case 'remove':
      return <RemoveDialog person={person} onClose={onClose} onRemoved={() => done(strings.removed(person.name))} />
  }
}

function Name({ person }: { readonly person: Person }) {
  const { organization } = useOrganization()
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      <Avatar name={person.name} />
      <span className="min-w-0 leading-tight">
        <span className="flex items-center gap-1.5">
          <SafeText text={person.name} className="truncate" />
          {person.id === organization.member_id && <Tag>{strings.you}</Tag>}
        </span>
        <SafeText text={person.email} className="block truncate text-xs font-normal text-muted" />
      </span>
    </span>
  )
}

function SignsInWith({ person: { factors } }: { readonly person: Person }) {
  if (!factors) return <span className="text-faint">{strings.notYet}</span>
  const { passkeys, has_authenticator: hasAuthenticator, has_password: hasPassword } = factors
  if (passkeys > 0 || hasAuthenticator)
    return (
      <Status tone="good">
        {[passkeys > 0 && strings.passkeys(passkeys), hasAuthenticator && strings.authenticator]
          .filter(Boolean)
          .join(', ')}
      </Status>
    )
  return <Status tone="warn">{hasPassword ? strings.passwordOnly : strings.noFactor}</Status>
}
