import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { FormDialog } from '../../../components/overlays/FormDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useConditionalSave } from '../../../hooks/conditional-save.ts'
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
  const formId = useId()
  const params = { path: { id: webhook.id } }
  const { isBusy, error, isConflict, save, keepMine, takeTheirs } = useConditionalSave<Webhook>({
    stored: webhook,
    read: () => answer(api.v1.GET('/v1/webhooks/{id}', { params })),
    async save(if_updated_at) {
      const body = { ...webhookChangeBody(fields), if_updated_at }
      const saved = await answer(api.v1.PATCH('/v1/webhooks/{id}', { params, body }))
      await queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      showToast(strings.saved)
      onClose()
      return saved
    },
    show: theirs => setFields(fieldsOf(theirs)),
  })
  return (
    <FormDialog
      onClose={onClose}
      title={strings.editTitle}
      submit={strings.save}
      form={formId}
      isBusy={isBusy}
      isIncomplete={fields.types.length === 0}
      width="large"
    >
      {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
      <WebhookForm
        id={formId}
        fields={fields}
        onFields={setFields}
        onSubmit={() => void save()}
        error={error}
        isChange
      />
    </FormDialog>
  )
}
