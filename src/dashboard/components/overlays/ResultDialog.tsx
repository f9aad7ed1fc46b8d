import type { ReactNode } from 'react'
import { Button } from '../actions/Button.tsx'
import { Dialog } from './Dialog.tsx'

interface ResultDialogProps {
  readonly onClose: () => void
  readonly title: string
  /** What the button says that closes it. */
  readonly done: string
  readonly width?: 'small' | 'medium' | 'large'
  readonly children: ReactNode
}

/** An open dialog with what came of something, such as a key that is shown once. */
export function ResultDialog({ onClose, title, done, width, children }: ResultDialogProps) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      {...(width && { width })}
      footer={
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      }
    >
      {children}
    </Dialog>
  )
}
