import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../../components/actions/Button.tsx'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton } from '../../../components/feedback/Skeleton.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { strings as shared } from '../../../components/strings.ts'
import { useAction } from '../../../hooks/action.ts'
import {
  countQuarantineAction,
  type QuarantineActionName,
  type QuarantineSelection,
  runQuarantineAction,
} from './quarantine.ts'
import { quarantineStrings as strings } from './strings.ts'

interface QuarantineActionDialogProps {
  readonly action: QuarantineActionName
  readonly selection: QuarantineSelection
  readonly onClose: () => void
  /** The messages are not in quarantine any more. */
  readonly onDone: () => void
}

/** Says how many messages an action concerns, and how many of them are infected, then does it. */
export function QuarantineActionDialog({ action, selection, onClose, onDone }: QuarantineActionDialogProps) {
  const words = strings.actions[action]
  const queryClient = useQueryClient()
  const { isBusy, error: failure, run: start } = useAction()
  const { data: counted, error } = useQuery({
    queryKey: ['instance', 'quarantine', 'count', action, selection],
    queryFn: () => countQuarantineAction(action, selection),
    staleTime: 0,
    gcTime: 0,
  })
  const run = () =>
    start(async () => {
      try {
        showToast(words.done(await runQuarantineAction(action, selection)))
        onDone()
      } finally {
        void queryClient.invalidateQueries({ queryKey: ['instance', 'quarantine', 'list'] })
      }
    })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={counted ? words.title(counted.count, counted.next_cursor !== null) : words.name}
      width="small"
      footer={
        <>
          <Button onClick={onClose}>{shared.cancel}</Button>
          <Button
            kind={action === 'delete' ? 'danger' : 'primary'}
            isBusy={isBusy}
            disabled={!counted || counted.count === 0}
            onClick={() => void run()}
          >
            {words.name}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-muted">
        <p>{words.effect}</p>
        {!counted && !error && (
          <div role="status">
            <span className="sr-only">{strings.counting}</span>
            <Skeleton className="h-4 w-40" />
          </div>
        )}
        {action === 'release' && counted && counted.infected > 0 && (
          <Notice tone="bad" title={strings.infectedAmong(counted.infected)} />
        )}
        {error && <Refusal error={error} />}
        {failure !== null && <Refusal error={failure} />}
      </div>
    </Dialog>
  )
}
