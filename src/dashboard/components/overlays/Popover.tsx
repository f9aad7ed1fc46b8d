import { cloneElement, type ReactElement, type ReactNode } from 'react'
import { usePopover } from './usePopover.ts'

interface PopoverProps {
  /** The button that opens it. */
  readonly button: ReactElement<object>
  /** For screen readers: what is in it. */
  readonly label: string
  readonly children: ReactNode
}

/** A button that opens a small surface beside it: an explanation, a filter. */
export function Popover({ button, label, children }: PopoverProps) {
  const { isOpen, panelRef, buttonProps, panelProps } = usePopover()
  return (
    <>
      {cloneElement(button, { ...buttonProps, 'aria-haspopup': 'dialog' } as object)}
      <div
        {...panelProps}
        ref={panelRef}
        role="dialog"
        aria-label={label}
        className="fixed inset-auto m-0 w-80 max-w-[calc(100vw-1rem)] overflow-auto rounded-lg bg-raised p-4 text-base font-normal text-ink shadow-pop"
      >
        {isOpen && children}
      </div>
    </>
  )
}
