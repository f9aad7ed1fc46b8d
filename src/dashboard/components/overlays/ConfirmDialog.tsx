import { type ReactNode, useState } from 'react'
import { useAction } from '../../hooks/action.ts'
import { Button } from '../actions/Button.tsx'
import { Refusal } from '../feedback/Refusal.tsx'
import { TextInput } from '../fields/TextInput.tsx'
import { strings } from '../strings.ts'
import { Dialog } from './Dialog.tsx'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  /** The question, with what and how many: "Delete 3 messages?" */
  readonly title: string
  /** What follows from it, and whether it can be undone. */
  readonly children: ReactNode
  /** The verb of the title: "Delete 3 messages". */
  readonly action: string
  readonly isDanger?: boolean
  /** For what cannot be undone: the name that has to be typed first. */
  readonly typedName?: string
  readonly typedLabel?: string
  /** Where a refusal is mended: a link to that screen; null: nowhere in particular. */
  readonly mend?: (error: unknown) => ReactNode
  /** Does it. The dialog stays open, with the refusal, when it fails. */
  readonly onConfirm: () => Promise<unknown>
}

/** Asks before something that cannot be undone, or that concerns many. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return props.isOpen ? <OpenConfirmDialog {...props} /> : null
}

function OpenConfirmDialog(props: ConfirmDialogProps) {
  const { onClose, title, children, action, isDanger = false, typedName, typedLabel, mend, onConfirm } = props
  const { isBusy, error, run } = useAction()
  const [typed, setTyped] = useState('')
  const confirm = () =>
    run(async () => {
      await onConfirm()
      onClose()
    })
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      width="small"
      footer={
        <>
          <Button onClick={onClose}>{strings.cancel}</Button>
          <Button
            kind={isDanger ? 'danger' : 'primary'}
            isBusy={isBusy}
            disabled={typedName !== undefined && typed.trim() !== typedName}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-muted">
        <div>{children}</div>
        {typedName !== undefined && (
          <TextInput label={typedLabel ?? typedName} value={typed} onValue={setTyped} isCode autoComplete="off" />
        )}
        {error !== null && <Refusal error={error} action={mend?.(error)} />}
      </div>
    </Dialog>
  )
}
