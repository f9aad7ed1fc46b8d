import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import { AccessFields, fullAccess } from '../../components/access/AccessFields.tsx'
import { CopyField } from '../../components/actions/CopyField.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { ResultDialog } from '../../components/overlays/ResultDialog.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { peopleStrings as strings } from './strings.ts'

interface InviteDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Invites someone, and shows the link once. */
export function InviteDialog({ isOpen, onClose }: InviteDialogProps) {
  return isOpen ? <OpenInviteDialog onClose={onClose} /> : null
}

interface CreatedLink {
  readonly link: string
  readonly email: string | null
}

function OpenInviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<CreatedLink | null>(null)
  const [isBusy, setBusy] = useState(false)
  const id = useId()
  if (created)
    return (
      <ResultDialog onClose={onClose} title={strings.linkTitle} done={strings.done}>
        <p className="mb-4 text-muted">{created.email ? strings.linkFor(created.email) : strings.linkForAnyone}</p>
        <CopyField label={strings.link} value={created.link} isShownOnce />
      </ResultDialog>
    )
  return (
    <FormDialog onClose={onClose} title={strings.inviteTitle} submit={strings.createLink} form={id} isBusy={isBusy}>
      <InviteForm id={id} onBusy={setBusy} onCreated={setCreated} />
    </FormDialog>
  )
}

interface InviteFormProps {
  readonly id: string
  readonly onBusy: (isBusy: boolean) => void
  readonly onCreated: (created: CreatedLink) => void
}

function InviteForm({ id, onBusy, onCreated }: InviteFormProps) {
  const { organization, wholeApi, brand } = useOrganization()
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [access, setAccess] = useState(() => fullAccess(brand ? [brand.id] : organization.brands.map(({ id }) => id)))
  const [error, setError] = useState<unknown>(null)
  const submit = async () => {
    onBusy(true)
    setError(null)
    try {
      const body = {
        brand_ids: [...access.brandIds],
        permissions: [...access.permissions],
        ...(email.trim() && { email: email.trim() }),
      }
      onCreated(await answer(wholeApi.v1.POST('/v1/invitations', { body })))
      void queryClient.invalidateQueries({ queryKey: ['invitations'] })
    } catch (thrown) {
      setError(thrown)
    } finally {
      onBusy(false)
    }
  }
  const emailError = errorOf(error, 'email')
  return (
    <form
      id={id}
      className="flex flex-col gap-5"
      onSubmit={event => {
        event.preventDefault()
        void submit()
      }}
    >
      <p className="text-muted">{strings.inviteHint}</p>
      <TextInput
        label={strings.email}
        hint={strings.emailHint}
        error={emailError}
        type="email"
        isOptional
        autoComplete="off"
        value={email}
        onValue={setEmail}
      />
      <AccessFields brands={organization.brands} value={access} onValue={setAccess} />
      {error !== null && !emailError && <Refusal error={error} />}
    </form>
  )
}
