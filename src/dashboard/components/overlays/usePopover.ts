import { type RefObject, type ToggleEvent, useEffect, useId, useRef, useState } from 'react'

const gap = 4
const edge = 8

/** What a button that opens a popover needs, and what the popover needs: both are spread on their elements. */
export interface PopoverParts {
  readonly isOpen: boolean
  readonly close: () => void
  readonly panelRef: RefObject<HTMLDivElement | null>
  readonly buttonProps: { readonly id: string; readonly popoverTarget: string; readonly 'aria-expanded': boolean }
  readonly panelProps: {
    readonly id: string
    readonly popover: 'auto'
    readonly onToggle: (event: ToggleEvent<HTMLElement>) => void
  }
}

/**
 * The platform's popover below a button, or above it where there is more room. Escape, a click elsewhere and a second click
 * close it, and the focus goes back to the button.
 */
export function usePopover(): PopoverParts {
  const id = useId()
  const panelRef = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const buttonId = `${id}-button`
  useEffect(() => {
    const panel = panelRef.current
    if (!isOpen || !panel) return
    const update = () => place(panel, document.getElementById(buttonId))
    update()
    addEventListener('resize', update)
    addEventListener('scroll', update, { capture: true, passive: true })
    return () => {
      removeEventListener('resize', update)
      removeEventListener('scroll', update, { capture: true })
    }
  }, [isOpen, buttonId])
  return {
    isOpen,
    close: () => panelRef.current?.hidePopover(),
    panelRef,
    buttonProps: { id: buttonId, popoverTarget: id, 'aria-expanded': isOpen },
    panelProps: { id, popover: 'auto', onToggle: event => setOpen(event.newState === 'open') },
  }
}

/** Places the panel by its style, which the content security policy allows to scripts. */
function place(panel: HTMLElement, button: HTMLElement | null): void {
  if (!button) return
  const anchor = button.getBoundingClientRect()
  const { clientWidth, clientHeight } = document.documentElement
  const below = clientHeight - anchor.bottom
  const isAbove = below < Math.min(panel.scrollHeight + gap + edge, 320) && anchor.top > below
  const { style } = panel
  style.maxHeight = `${Math.max(96, (isAbove ? anchor.top : below) - gap - edge)}px`
  const { width, height } = panel.getBoundingClientRect()
  style.left = `${Math.max(edge, Math.min(anchor.left, clientWidth - width - edge))}px`
  style.top = `${isAbove ? anchor.top - gap - height : anchor.bottom + gap}px`
}
