import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { FormDialog } from '../../../components/overlays/FormDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { useSenderAddress } from '../../sent/sender-address.ts'
import { templateStrings as strings } from '../strings.ts'

interface SendTestDialogProps {
  readonly slug: string
  readonly values: Readonly<Record<string, unknown>>
  readonly onClose: () => void
}

const formId = 'send-test'

/** Sends the saved template to oneself, and shows the email. Mounted while it is open. */
export function SendTestDialog({ slug, values, onClose }: SendTestDialogProps) {
  const { api, organization, session } = useOrganization()
  const sender = useSenderAddress()
  const navigate = useNavigate()
  const [to, setTo] = useState(session.user.email)
  const [from, setFrom] = useState<string | null>(null)
  const { isBusy, error, run } = useAction()
  const send = () =>
    run(async () => {
      const body = { from: from ?? sender.from ?? '', to, template: slug, variables: { ...values } }
      const { id } = await answer(api.v1.POST('/v1/emails', { body }))
      showToast(strings.testSent)
      await navigate({
        to: '/$organization/sent/$email',
        params: { organization: organization.id, email: id },
        search: ({ brand }: { brand?: string }) => (brand === undefined ? {} : { brand }),
      })
    })
  return (
    <FormDialog
      onClose={onClose}
      title={strings.sendTestTitle}
      submit={strings.sendTest}
      form={formId}
      isBusy={isBusy}
      hasCancel
    >
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void send()
        }}
      >
        <p className="text-muted">{strings.sendTestHint}</p>
        <TextInput
          label={strings.fromAddress}
          isCode
          required
          value={from ?? sender.from ?? ''}
          onValue={setFrom}
          hint={sender.isKnown && sender.from === null ? strings.noSender : undefined}
        />
        <TextInput label={strings.to} type="email" isCode required value={to} onValue={setTo} />
        {error !== null && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
