import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { answer, app } from '../../../api/client.ts'
import { errorOf } from '../../../api/errors.ts'
import { CopyField } from '../../../components/actions/CopyField.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { FormDialog } from '../../../components/overlays/FormDialog.tsx'
import { ResultDialog } from '../../../components/overlays/ResultDialog.tsx'
import { type Organization, plans } from './organization.ts'
import { organizationStrings as strings } from './strings.ts'

interface CreatedOwner {
  readonly email: string
  readonly link: string
}

/** Creates an organization, then shows the link of its first owner, once. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [owner, setOwner] = useState<CreatedOwner | null>(null)
  if (!owner) return <CreateForm onClose={onClose} onCreated={setOwner} />
  return (
    <ResultDialog onClose={onClose} title={strings.created} done={strings.done}>
      <p className="mb-4 text-muted">{strings.createdHint(owner.email)}</p>
      <CopyField label={strings.link} value={owner.link} isShownOnce />
    </ResultDialog>
  )
}

interface CreateFormProps {
  readonly onClose: () => void
  readonly onCreated: (owner: CreatedOwner) => void
}

function CreateForm({ onClose, onCreated }: CreateFormProps) {
  const queryClient = useQueryClient()
  const form = useId()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [plan, setPlan] = useState<Organization['plan']>('unlimited')
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setError(null)
    try {
      const created = await answer(
        app.POST('/app/api/instance/organizations', { body: { name, plan, owner_email: email } }),
      )
      onCreated(created.owner)
      void queryClient.invalidateQueries({ queryKey: ['instance', 'organizations'] })
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  const [nameError, emailError] = [errorOf(error, 'name'), errorOf(error, 'owner_email')]
  return (
    <FormDialog onClose={onClose} title={strings.create} submit={strings.create} form={form} isBusy={isBusy} hasCancel>
      <form id={form} className="flex flex-col gap-4" onSubmit={event => void create(event)}>
        <TextInput label={strings.name} value={name} onValue={setName} error={nameError} maxLength={120} required />
        <TextInput
          label={strings.owner}
          hint={strings.ownerHint}
          type="email"
          value={email}
          onValue={setEmail}
          error={emailError}
          required
        />
        <Select
          label={strings.plan}
          hint={strings.planHint}
          value={plan}
          onValue={setPlan}
          options={plans.map(value => ({ value, label: value }))}
        />
        {error !== null && !nameError && !emailError && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
