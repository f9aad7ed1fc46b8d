import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Send } from 'lucide-react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { ResponseText } from '../ResponseText.tsx'
import { useWebhookApi } from '../useWebhookApi.ts'
import type { TestResult, Webhook } from '../webhook.ts'
import { endpointStrings as strings } from './strings.ts'

/** Sends a test to an endpoint, and shows what came back. */
export function TestDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  const test = useMutation({
    mutationFn: () => answer(api.v1.POST('/v1/webhooks/{id}/test', { params: { path: { id: webhook.id } } })),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
  })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.testTitle}
      footer={
        <Button kind="primary" icon={<Send />} isBusy={test.isPending} onClick={() => test.mutate()}>
          {test.data ? strings.sendAgain : strings.sendNow}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-muted">{strings.testHint}</p>
        <div role="status">{test.data && !test.isPending && <Result result={test.data} />}</div>
        {test.error && !test.isPending && <Refusal error={test.error} />}
      </div>
    </Dialog>
  )
}

function Result({ result }: { readonly result: TestResult }) {
  const { is_delivered, http_status, duration_ms, error, response } = result
  const title =
    http_status === null
      ? strings.testNone
      : is_delivered
        ? strings.testGood(http_status)
        : strings.testBad(http_status)
  return (
    <div className="flex flex-col gap-4">
      <Notice tone={is_delivered ? 'good' : 'bad'} title={title}>
        {error && error !== `HTTP ${http_status}` && (
          <p>
            <SafeText text={error} />
          </p>
        )}
        <p>
          {strings.took} {strings.ms(duration_ms)}
        </p>
      </Notice>
      {http_status !== null && <ResponseText text={response} />}
    </div>
  )
}
