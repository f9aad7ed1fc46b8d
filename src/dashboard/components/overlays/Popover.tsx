import * as Ariakit from '@ariakit/react/popover'
import type { ReactElement, ReactNode } from 'react'

interface PopoverProps {
  /** The button that opens it. */
  readonly button: ReactElement
  /** For screen readers: what is in it. */
  readonly label: string
  readonly children: ReactNode
}

/** A button that opens a small surface beside it: an explanation, a filter. */
export function Popover({ button, label, children }: PopoverProps) {
  return (
    <Ariakit.PopoverProvider>
      <Ariakit.PopoverDisclosure render={button} />
      <Ariakit.Popover
        portal
        gutter={6}
        unmountOnHide
        aria-label={label}
        className="z-50 max-h-[var(--popover-available-height)] w-80 max-w-[calc(100vw-1rem)] overflow-auto rounded-lg bg-raised p-4 text-ink shadow-pop outline-none"
      >
        {children}
      </Ariakit.Popover>
    </Ariakit.PopoverProvider>
  )
}
