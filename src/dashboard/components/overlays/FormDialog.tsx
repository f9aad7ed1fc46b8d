import type { ReactNode } from 'react'
import { Button } from '../actions/Button.tsx'
import { strings } from '../strings.ts'
import { Dialog } from './Dialog.tsx'

interface FormDialogProps {
  readonly onClose: () => void
  readonly title: string
  /** What the button says that sends the form. */
  readonly submit: string
  /** The id of the form, which is among the children. */
  readonly form: string
  readonly isBusy: boolean
  /** It is not complete. */
  readonly isIncomplete?: boolean
  readonly hasCancel?: boolean
  readonly width?: 'small' | 'medium' | 'large'
  readonly children: ReactNode
}

/** An open dialog with a form to fill in. */
export function FormDialog(props: FormDialogProps) {
  const { onClose, title, submit, form, isBusy, isIncomplete = false, hasCancel = false, width, children } = props
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      {...(width && { width })}
      footer={
        <>
          {hasCancel && <Button onClick={onClose}>{strings.cancel}</Button>}
          <Button kind="primary" type="submit" form={form} isBusy={isBusy} disabled={isIncomplete}>
            {submit}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  )
}
