import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { errorOf } from '../../api/errors.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { useAction } from '../../hooks/action.ts'
import { suppressionStrings as strings } from './strings.ts'
import { useBrandChoice } from './useBrandChoice.ts'

interface AddDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Suppresses an address by hand. */
export function AddDialog({ isOpen, onClose }: AddDialogProps) {
  return isOpen ? <OpenAddDialog onClose={onClose} /> : null
}

function OpenAddDialog({ onClose }: { readonly onClose: () => void }) {
  const { api, brandId, setBrandId, options } = useBrandChoice()
  const queryClient = useQueryClient()
  const [email, setEmail] = useState('')
  const [until, setUntil] = useState('')
  const { isBusy, error, run } = useAction()
  const id = useId()
  const add = () =>
    run(async () => {
      const body = { email: email.trim(), ...(until && { expires_at: new Date(until).toISOString() }) }
      const { response } = await api.v1.POST('/v1/suppressions', { body })
      showToast(response.status === 201 ? strings.added : strings.wasThere)
      await queryClient.invalidateQueries({ queryKey: ['suppressions'] })
      onClose()
    })
  const shownBeside = errorOf(error, 'email') ?? errorOf(error, 'expires_at')
  return (
    <FormDialog onClose={onClose} title={strings.addTitle} submit={strings.add} form={id} isBusy={isBusy} width="small">
      <form
        id={id}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void add()
        }}
      >
        <p className="text-muted">{strings.addHint}</p>
        <TextInput
          label={strings.address}
          error={errorOf(error, 'email')}
          value={email}
          onValue={setEmail}
          isCode
          required
          autoComplete="off"
        />
        {options.length > 1 && <Select label={strings.brand} value={brandId} onValue={setBrandId} options={options} />}
        <TextInput
          label={strings.untilLabel}
          hint={strings.untilHint}
          error={errorOf(error, 'expires_at')}
          type="datetime-local"
          isOptional
          value={until}
          onValue={setUntil}
        />
        {error !== null && !shownBeside && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
