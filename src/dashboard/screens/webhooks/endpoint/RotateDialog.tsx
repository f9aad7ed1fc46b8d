import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Select } from '../../../components/fields/Select.tsx'
import { FormDialog } from '../../../components/overlays/FormDialog.tsx'
import { useAction } from '../../../hooks/action.ts'
import { SecretDialog } from '../SecretDialog.tsx'
import { useWebhookApi } from '../useWebhookApi.ts'
import type { Webhook } from '../webhook.ts'
import { endpointStrings as strings } from './strings.ts'

const graceSeconds = { none: 0, hour: 3600, day: 86_400, week: 604_800 } as const
type Grace = keyof typeof graceSeconds

/** Gives an endpoint a new secret, and shows it once. */
export function RotateDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  const [grace, setGrace] = useState<Grace>('day')
  const [secret, setSecret] = useState<string | null>(null)
  const { isBusy, error, run } = useAction()
  const formId = useId()
  const rotate = () =>
    run(async () => {
      const params = { path: { id: webhook.id } }
      const body = { grace_seconds: graceSeconds[grace] }
      const rotated = await answer(api.v1.POST('/v1/webhooks/{id}/rotate-secret', { params, body }))
      void queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      setSecret(rotated.secret)
    })
  if (secret !== null)
    return <SecretDialog title={strings.rotatedTitle} secret={secret} done={strings.done} onClose={onClose} />
  return (
    <FormDialog onClose={onClose} title={strings.rotateTitle} submit={strings.rotateNow} form={formId} isBusy={isBusy}>
      <form
        id={formId}
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault()
          void rotate()
        }}
      >
        <p className="text-muted">{strings.rotateHint}</p>
        <Select<Grace>
          label={strings.grace}
          value={grace}
          onValue={setGrace}
          options={(Object.keys(graceSeconds) as Grace[]).map(value => ({ value, label: strings.graces[value] }))}
        />
        {error !== null && <Refusal error={error} />}
      </form>
    </FormDialog>
  )
}
