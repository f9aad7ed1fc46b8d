import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { CountedActionDialog } from '../../../components/overlays/CountedActionDialog.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
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
    <CountedActionDialog
      title={counted ? words.title(counted.count, counted.next_cursor !== null) : words.name}
      effect={words.effect}
      confirm={words.name}
      isDangerous={action === 'delete'}
      count={counted?.count}
      countError={error}
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      {action === 'release' && counted && counted.infected > 0 && (
        <Notice tone="bad" title={strings.infectedAmong(counted.infected)} />
      )}
    </CountedActionDialog>
  )
}
