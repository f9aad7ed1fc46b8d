import { useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { AccessFields, fullAccess } from '../../components/access/AccessFields.tsx'
import { Choice } from '../../components/access/Choice.tsx'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Dialog } from '../../components/overlays/Dialog.tsx'
import { useAction } from '../../hooks/action.ts'
import { useOrganization } from '../../hooks/organization.ts'
import type { Person, Role } from './people.ts'
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
  const [role, setRole] = useState(person.role)
  const [access, setAccess] = useState(() =>
    person.brand_ids
      ? { brandIds: person.brand_ids, permissions: person.permissions }
      : fullAccess(organization.brands.map(({ id }) => id)),
  )
  const { isBusy, error, run } = useAction()
  const id = useId()
  const save = () =>
    run(async () => {
      const limits = role === 'member' ? { brand_ids: [...access.brandIds], permissions: [...access.permissions] } : {}
      const params = { path: { id: person.id } }
      await answer(wholeApi.app.PATCH('/app/api/people/{id}/role', { params, body: { role, ...limits } }))
      onChanged()
      onClose()
    })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.roleTitle(person.name)}
      footer={
        <Button type="submit" form={id} kind="primary" isBusy={isBusy}>
          {strings.save}
        </Button>
      }
    >
      <form
        id={id}
        className="flex flex-col gap-5"
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <Choice<Role>
          label={strings.role}
          value={role}
          onValue={setRole}
          options={roles.map(value => ({ value, label: strings.roles[value], hint: strings.roleHints[value] }))}
        />
        {role === 'member' && <AccessFields brands={organization.brands} value={access} onValue={setAccess} />}
        {error !== null && <Refusal error={error} />}
      </form>
    </Dialog>
  )
}
