import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer, createOrganizationApi } from '../../../api/client.ts'
import { readableTypes } from '../../../components/events/event-types.ts'
import { FormDialog } from '../../../components/overlays/FormDialog.tsx'
import { useAction } from '../../../hooks/action.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { SecretDialog } from '../SecretDialog.tsx'
import { offeredPresets, presetTypes } from './presets.ts'
import { formStrings as strings } from './strings.ts'
import { WebhookForm } from './WebhookForm.tsx'
import { newWebhookBody, type WebhookFields } from './webhook-fields.ts'

interface CreateWebhookDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Creates an endpoint, and shows its secret once. */
export function CreateWebhookDialog({ isOpen, onClose }: CreateWebhookDialogProps) {
  return isOpen ? <OpenCreateWebhookDialog onClose={onClose} /> : null
}

function OpenCreateWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const { organization, brand, may } = useOrganization()
  const queryClient = useQueryClient()
  const [fields, setFields] = useState<WebhookFields>(() => {
    const offered = readableTypes(may)
    const onlyBrand = organization.role === 'member' ? (organization.brands[0]?.id ?? '') : ''
    return {
      url: '',
      description: '',
      types: presetTypes(offeredPresets(offered)[0] ?? 'all', offered),
      brandId: brand?.id ?? onlyBrand,
      mailboxIds: [],
      headers: [],
    }
  })
  const [secret, setSecret] = useState<string | null>(null)
  const { isBusy, error, run } = useAction()
  const formId = useId()
  const create = () =>
    run(async () => {
      // A member acts in one brand; whoever has all of them names it in the body.
      const { v1 } = createOrganizationApi(organization.id, organization.role === 'member' ? fields.brandId : null)
      const created = await answer(v1.POST('/v1/webhooks', { body: newWebhookBody(fields) }))
      void queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      setSecret(created.secret)
    })
  if (secret !== null)
    return <SecretDialog title={strings.createdTitle} secret={secret} done={strings.done} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      title={strings.createTitle}
      submit={strings.create}
      form={formId}
      isBusy={isBusy}
      isIncomplete={fields.types.length === 0}
      width="large"
    >
      <WebhookForm id={formId} fields={fields} onFields={setFields} onSubmit={() => void create()} error={error} />
    </FormDialog>
  )
}
