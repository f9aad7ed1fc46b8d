import { useQueryClient } from '@tanstack/react-query'
import { useId } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { Progress } from '../../../components/feedback/Progress.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Dialog } from '../../../components/overlays/Dialog.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useTask } from '../../../hooks/task.ts'
import { suppressionStrings as strings } from '../strings.ts'
import { IncidentForm } from './IncidentForm.tsx'
import { UndoReport } from './UndoReport.tsx'
import { type Incident, runUndo, undoTask } from './undo-task.ts'

interface UndoDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Takes back the suppressions of an incident: a dry run first, which shows them. It can be closed while it goes on. */
export function UndoDialog({ isOpen, onClose }: UndoDialogProps) {
  return isOpen ? <OpenUndoDialog onClose={onClose} /> : null
}

function OpenUndoDialog({ onClose }: { readonly onClose: () => void }) {
  const { api } = useOrganization()
  const queryClient = useQueryClient()
  const state = useTask(undoTask)
  const formId = useId()
  const restart = () => undoTask.set({ kind: 'idle' })
  const close = () => {
    if (state.kind === 'done' || state.kind === 'failed') restart()
    onClose()
  }
  const undo = async (incident: Incident) => {
    await runUndo(api, incident, false)
    await queryClient.invalidateQueries({ queryKey: ['suppressions'] })
  }
  const changeButton = <Button onClick={restart}>{strings.change}</Button>
  switch (state.kind) {
    case 'idle':
      return (
        <Dialog
          isOpen
          onClose={close}
          title={strings.undoTitle}
          footer={
            <Button type="submit" form={formId} kind="primary">
              {strings.look}
            </Button>
          }
        >
          <IncidentForm id={formId} onIncident={incident => void runUndo(api, incident, true)} />
        </Dialog>
      )
    case 'looking':
    case 'undoing':
      return (
        <Dialog isOpen onClose={close} title={strings.undoTitle}>
          <Progress label={state.kind === 'looking' ? strings.looking : strings.undoing} value={null} />
          <p className="mt-3 text-sm text-muted">{strings.found(state.undone, state.checked)}</p>
          <p className="mt-1 text-sm text-muted">{strings.goesOn}</p>
        </Dialog>
      )
    case 'found': {
      const { incident, undone, checked, examples } = state
      return (
        <Dialog
          isOpen
          onClose={close}
          title={strings.undoTitle}
          footer={
            <>
              {changeButton}
              {undone > 0 && (
                <Button kind="danger" onClick={() => void undo(incident)}>
                  {strings.undoNow(undone)}
                </Button>
              )}
            </>
          }
        >
          <p className="mb-3">{undone > 0 ? strings.found(undone, checked) : strings.noneFound}</p>
          <UndoReport examples={examples} count={undone} />
        </Dialog>
      )
    }
    case 'done':
      return (
        <Dialog
          isOpen
          onClose={close}
          title={strings.undoTitle}
          footer={
            <Button kind="primary" onClick={close}>
              {strings.done}
            </Button>
          }
        >
          <p className="mb-3">{strings.undone(state.undone)}</p>
          <UndoReport examples={state.examples} count={state.undone} />
        </Dialog>
      )
    case 'failed':
      return (
        <Dialog isOpen onClose={close} title={strings.undoTitle} footer={changeButton}>
          <Refusal error={state.error} />
        </Dialog>
      )
  }
}
