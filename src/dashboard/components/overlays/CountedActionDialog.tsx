import type { ReactNode } from 'react'
import { Button } from '../actions/Button.tsx'
import { Refusal } from '../feedback/Refusal.tsx'
import { Skeleton } from '../feedback/Skeleton.tsx'
import { strings } from '../strings.ts'
import { Dialog } from './Dialog.tsx'

interface CountedActionDialogProps {
  readonly title: string
  /** What the action does, in a sentence. */
  readonly effect: string
  /** The label of the button. */
  readonly confirm: string
  readonly isDangerous: boolean
  /** How many the action concerns; undefined: they are being counted. */
  readonly count: number | undefined
  /** Why they could not be counted. */
  readonly countError: Error | null
  readonly isBusy: boolean
  /** Why the action failed; null: it did not. */
  readonly failure: unknown
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Asks before an action on many, once it is known how many they are. */
export function CountedActionDialog(props: CountedActionDialogProps) {
  const { count, countError, failure, onClose } = props
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={props.title}
      width="small"
      footer={
        <>
          <Button onClick={onClose}>{strings.cancel}</Button>
          <Button
            kind={props.isDangerous ? 'danger' : 'primary'}
            isBusy={props.isBusy}
            disabled={!count}
            onClick={props.onConfirm}
          >
            {props.confirm}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 text-muted">
        <p>{props.effect}</p>
        {count === undefined && !countError && (
          <div role="status">
            <span className="sr-only">{strings.counting}</span>
            <Skeleton className="h-4 w-40" />
          </div>
        )}
        {props.children}
        {countError && <Refusal error={countError} />}
        {failure !== null && <Refusal error={failure} />}
      </div>
    </Dialog>
  )
}
