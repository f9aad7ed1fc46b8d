import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { ConflictNotice } from '../../../components/conflict/ConflictNotice.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
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
      {isConflict && <ConflictNotice onKeep={keepMine} onTake={takeTheirs} />}
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
