import { useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { AccessFields, fullAccess, type MemberAccess } from '../../components/access/AccessFields.tsx'
import { Choice } from '../../components/access/Choice.tsx'
import { ConflictNotice } from '../../components/conflict/ConflictNotice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { useConditionalSave } from '../../hooks/conditional-save.ts'
import { useOrganization } from '../../hooks/organization.ts'
import type { Member, Person, Role } from './people.ts'
import { peopleStrings as strings } from './strings.ts'

interface RoleDialogProps {
  readonly person: Person
  readonly onClose: () => void
  readonly onChanged: () => void
}

const roles: readonly Role[] = ['owner', 'admin', 'member']

/** Makes a member an owner, an admin, or a member with limits: for owners. */
export function RoleDialog({ person, onClose, onChanged }: RoleDialogProps) {
  const { organization, wholeApi } = useOrganization()
  const accessOf = ({ brand_ids: brandIds, permissions }: Member) =>
    brandIds ? { brandIds, permissions } : fullAccess(organization.brands.map(({ id }) => id))
  const [role, setRole] = useState(person.role)
  const [access, setAccess] = useState<MemberAccess>(() => accessOf(person))
  const id = useId()
  const params = { path: { id: person.id } }
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<Member>({
    stored: person,
    read: () => answer(wholeApi.v1.GET('/v1/members/{id}', { params })),
    async save(if_updated_at) {
      const limits = role === 'member' ? { brand_ids: [...access.brandIds], permissions: [...access.permissions] } : {}
      const body = { role, ...limits, if_updated_at }
      const saved = await answer(wholeApi.app.PATCH('/app/api/people/{id}/role', { params, body }))
      onChanged()
      onClose()
      return saved
    },
    show(theirs) {
      setRole(theirs.role)
      setAccess(accessOf(theirs))
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title={strings.roleTitle(person.name)}
      submit={strings.save}
      form={id}
      isBusy={isBusy}
    >
      <form
        id={id}
        className="flex flex-col gap-5"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
        <Choice<Role>
          label={strings.role}
          value={role}
          onValue={setRole}
          options={roles.map(value => ({ value, label: strings.roles[value], hint: strings.roleHints[value] }))}
        />
        {role === 'member' && <AccessFields brands={organization.brands} value={access} onValue={setAccess} />}
        {error !== null && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
