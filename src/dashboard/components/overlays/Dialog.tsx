import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { IconButton } from '../actions/IconButton.tsx'
import { classes } from '../classes.ts'
import { strings } from '../strings.ts'

interface DialogProps {
  readonly isOpen: boolean
  /** Escape, the cross or the backdrop. */
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  /** Buttons at the bottom; the last is the one that Enter means. */
  readonly footer?: ReactNode
  readonly width?: 'small' | 'medium' | 'large'
}

const widths = { small: 'sm:max-w-sm', medium: 'sm:max-w-lg', large: 'sm:max-w-3xl' }

/**
 * The platform's own modal dialog: what is behind it is inert, and the focus goes back to where it was. At the bottom of
 * narrow screens. Its content is mounted only while it is open, so that it starts anew each time.
 */
export function Dialog({ isOpen, ...props }: DialogProps) {
  return isOpen ? <OpenDialog {...props} /> : null
}

function OpenDialog({ onClose, title, children, footer, width = 'medium' }: Omit<DialogProps, 'isOpen'>) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const element = dialog.current
    if (!element?.open) element?.showModal()
    return () => element?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way (onCancel)
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onClick={event => {
        if (event.target === dialog.current) onClose()
      }}
      className={classes(
        'm-0 mt-auto max-h-[92dvh] w-full max-w-full flex-col rounded-t-xl bg-raised text-ink shadow-pop open:flex',
        'sm:m-auto sm:max-h-[85dvh] sm:rounded-xl',
        widths[width],
      )}
    >
      <header className="flex items-center justify-between gap-4 py-3 pr-3 pl-5">
        <h2 id={titleId} className="text-lg font-semibold">
          {title}
        </h2>
        <IconButton label={strings.close} icon={<X />} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-0.5 pb-5">{children}</div>
      {footer && (
        <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line bg-sunken px-5 py-3">
          {footer}
        </footer>
      )}
    </dialog>
  )
}
