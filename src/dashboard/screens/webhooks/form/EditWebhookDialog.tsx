import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useAction } from '../../../hooks/action.ts'
import { useWebhookApi } from '../useWebhookApi.ts'
import type { Webhook } from '../webhook.ts'
import { formStrings as strings } from './strings.ts'
import { WebhookForm } from './WebhookForm.tsx'
import { fieldsOf, webhookChangeBody } from './webhook-fields.ts'

/** Changes where an endpoint is and what it gets. */
export function EditWebhookDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  const [fields, setFields] = useState(() => fieldsOf(webhook))
  const { isBusy, error, run } = useAction()
  const formId = useId()
  const save = () =>
    run(async () => {
      const params = { path: { id: webhook.id } }
      await answer(api.v1.PATCH('/v1/webhooks/{id}', { params, body: webhookChangeBody(fields) }))
      await queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      showToast(strings.saved)
      onClose()
    })
  return (
    <Dialog
      isOpen
      width="large"
      onClose={onClose}
      title={strings.editTitle}
      footer={
        <Button type="submit" form={formId} kind="primary" isBusy={isBusy} disabled={fields.types.length === 0}>
          {strings.save}
        </Button>
      }
    >
      <WebhookForm
        id={formId}
        fields={fields}
        onFields={setFields}
        onSubmit={() => void save()}
        error={error}
        isChange
      />
    </Dialog>
  )
}
