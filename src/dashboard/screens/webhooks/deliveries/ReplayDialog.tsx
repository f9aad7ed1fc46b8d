import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Choice } from '../../../components/access/Choice.tsx'
import { Button } from '../../../components/actions/Button.tsx'
import { isEventType } from '../../../components/events/event-types.ts'
import { TypePicker } from '../../../components/events/TypePicker.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useWebhookApi } from '../useWebhookApi.ts'
import type { Webhook } from '../webhook.ts'
import { type ReplaySpan, replay } from './replay.ts'
import { deliveryStrings as strings } from './strings.ts'

/** Sends the events of a span to an endpoint again: first it says how many they are. */
export function ReplayDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  const formId = useId()
  const [span, setSpan] = useState<ReplaySpan | null>(null)
  const count = useMutation({ mutationFn: (entered: ReplaySpan) => replay(api, webhook.id, entered, true) })
  const send = useMutation({
    mutationFn: (counted: ReplaySpan) => replay(api, webhook.id, counted, false),
    onSuccess: () => {
      showToast(strings.replaying)
      onClose()
      return queryClient.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  const found = count.data
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={strings.replayTitle}
      footer={
        span && found ? (
          <>
            <Button onClick={() => setSpan(null)}>{strings.change}</Button>
            {found.count > 0 && (
              <Button kind="primary" isBusy={send.isPending} onClick={() => send.mutate(span)}>
                {strings.replayNow(found.count, found.more)}
              </Button>
            )}
          </>
        ) : (
          <Button type="submit" form={formId} kind="primary" isBusy={count.isPending}>
            {strings.preview}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-muted">{strings.replayHint}</p>
        {/* It stays, so that what was entered is there when one changes it. */}
        <div hidden={span !== null && found !== undefined}>
          <SpanForm
            id={formId}
            webhook={webhook}
            onSpan={entered => {
              setSpan(entered)
              count.mutate(entered)
            }}
          />
        </div>
        <div role="status">
          {span && found && (
            <p className="font-medium">
              {found.count > 0 ? strings.found(found.count, found.more) : strings.noneFound}
            </p>
          )}
        </div>
        {count.error && <Refusal error={count.error} />}
        {send.error && <Refusal error={send.error} />}
      </div>
    </Dialog>
  )
}

const hourMs = 3_600_000

interface SpanFormProps {
  readonly id: string
  readonly webhook: Webhook
  readonly onSpan: (span: ReplaySpan) => void
}

function SpanForm({ id, webhook, onSpan }: SpanFormProps) {
  const offered = webhook.types.filter(isEventType)
  const [only, setOnly] = useState<ReplaySpan['only']>('failed')
  const [from, setFrom] = useState(() => localInput(new Date(Date.now() - 24 * hourMs)))
  const [to, setTo] = useState('')
  const [types, setTypes] = useState<readonly string[]>(offered)
  return (
    <form
      id={id}
      className="flex flex-col gap-4"
      onSubmit={event => {
        event.preventDefault()
        onSpan({
          only,
          from: new Date(from).toISOString(),
          ...(to && { to: new Date(to).toISOString() }),
          ...(types.length > 0 && types.length < offered.length && { types: [...types] }),
        })
      }}
    >
      <Choice
        label={strings.only}
        value={only}
        onValue={setOnly}
        options={[
          { value: 'failed', label: strings.onlyFailed, hint: strings.onlyFailedHint },
          { value: 'all', label: strings.onlyAll, hint: strings.onlyAllHint },
        ]}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextInput label={strings.from} type="datetime-local" required max={to} value={from} onValue={setFrom} />
        <TextInput
          label={strings.to}
          hint={strings.toHint}
          type="datetime-local"
          isOptional
          min={from}
          value={to}
          onValue={setTo}
        />
      </div>
      {offered.length > 1 && (
        <details className="rounded-md border border-line px-3 py-2">
          <summary className="rounded-sm text-sm font-medium">{strings.types}</summary>
          <div className="mt-3 mb-1">
            <TypePicker label={strings.types} offered={offered} value={types.filter(isEventType)} onValue={setTypes} />
          </div>
        </details>
      )}
    </form>
  )
}

/** An instant as a field of the type `datetime-local` has it, in the reader's zone. */
function localInput(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
