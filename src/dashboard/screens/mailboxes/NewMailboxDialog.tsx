import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../api/client.ts'
import { errorOf } from '../../api/errors.ts'
import type { components } from '../../api/v1.ts'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { Checkbox } from '../../components/fields/Checkbox.tsx'
import { Select } from '../../components/fields/Select.tsx'
import { TextInput } from '../../components/fields/TextInput.tsx'
import { FormDialog } from '../../components/overlays/FormDialog.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { mailboxStrings as strings } from './strings.ts'

interface NewMailboxDialogProps {
  readonly domains: readonly components['schemas']['DomainDetails'][]
  readonly onClose: () => void
}

/** Creates a mailbox or a catch-all. */
export function NewMailboxDialog({ domains, onClose }: NewMailboxDialogProps) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const formId = useId()
  const [domainId, setDomainId] = useState(domains[0]?.id ?? '')
  const [localPart, setLocalPart] = useState('')
  const [isCatchAll, setCatchAll] = useState(false)
  const create = useMutation({
    mutationFn: () => {
      const body = { domain_id: domainId, ...(!isCatchAll && { local_part: localPart.trim() }) }
      return answer(api.v1.POST('/v1/mailboxes', { body }))
    },
    onSuccess: async ({ address, live }) => {
      await queryClient.invalidateQueries({ queryKey: ['mailboxes'] })
      showToast(live ? strings.takesMail(address) : strings.waits(address))
      onClose()
    },
  })
  const localPartError = errorOf(create.error, 'local_part')
  return (
    <FormDialog onClose={onClose} title={strings.add} submit={strings.create} form={formId} isBusy={create.isPending}>
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          create.mutate()
        }}
      >
        {!isCatchAll && (
          <TextInput
            label={strings.localPart}
            error={localPartError}
            isCode
            required
            autoComplete="off"
            maxLength={64}
            value={localPart}
            onValue={setLocalPart}
          />
        )}
        <Select
          label={strings.domain}
          value={domainId}
          onValue={setDomainId}
          options={domains.map(({ id, domain }) => ({ value: id, label: `@${domain}` }))}
        />
        <Checkbox
          label={strings.isCatchAll}
          hint={strings.catchAllHint}
          isChecked={isCatchAll}
          onChecked={setCatchAll}
        />
        {create.error && !localPartError && <Refusal error={create.error} />}
      </form>
    </FormDialog>
  )
}
