import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { TextInput } from '../../../components/fields/TextInput.tsx'
import { CountedActionDialog } from '../../../components/overlays/CountedActionDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useAction } from '../../../hooks/action.ts'
import { countAction, type QueueActionName, type QueueProgress, type QueueSelection, runAction } from './queue.ts'
import { queueStrings as strings } from './strings.ts'

interface QueueActionDialogProps {
  readonly action: QueueActionName
  readonly selection: QueueSelection
  readonly onClose: () => void
}

const otherOutcomes = ['in_flight', 'as_it_was', 'held', 'scheduled'] as const

/** Says how many recipients an action would change, then does it. */
export function QueueActionDialog({ action, selection, onClose }: QueueActionDialogProps) {
  const words = strings.actions[action]
  const queryClient = useQueryClient()
  const [reason, setReason] = useState('')
  const [progress, setProgress] = useState<QueueProgress | null>(null)
  const { isBusy, error: failure, run: start } = useAction()
  const { data: counted, error } = useQuery({
    queryKey: ['instance', 'queue', 'count', action, selection],
    queryFn: () => countAction(action, selection),
    staleTime: 0,
    gcTime: 0,
  })
  const run = () =>
    start(async () => {
      try {
        const { done } = await runAction(action, selection, reason, setProgress)
        showToast(words.done(done))
        onClose()
      } finally {
        void queryClient.invalidateQueries({ queryKey: ['instance', 'queue'] })
      }
    })
  const amount = counted ? strings.many(counted.done, counted.isMore) : null
  return (
    <CountedActionDialog
      title={amount === null ? words.name : words.title(amount)}
      effect={words.effect}
      confirm={progress && isBusy ? `${words.progress} ${progress.done.toLocaleString('en')}` : words.name}
      isDangerous={action === 'cancel'}
      count={counted?.done}
      countError={error}
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      {counted && <OtherOutcomes counted={counted} />}
      {selection.is_all && <p>{strings.wholeQueue}</p>}
      {action === 'hold' && (
        <TextInput
          label={strings.reason}
          hint={strings.reasonHint}
          value={reason}
          onValue={setReason}
          maxLength={200}
          isOptional
        />
      )}
    </CountedActionDialog>
  )
}

function OtherOutcomes({ counted }: { readonly counted: QueueProgress }) {
  const others = otherOutcomes.filter(outcome => counted[outcome] > 0)
  if (others.length === 0) return null
  return (
    <p>
      {strings.others} {others.map(outcome => strings.outcomes[outcome](counted[outcome])).join(', ')}.
    </p>
  )
}
