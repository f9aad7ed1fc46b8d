import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** After going to another screen the focus is on its heading, so that a screen reader says where one is. */
export function useHeadingFocus(): void {
  const path = useRouterState({ select: state => state.resolvedLocation?.pathname ?? '' })
  const previous = useRef('')
  useEffect(() => {
    const hasMoved = previous.current !== '' && previous.current !== path
    previous.current = path
    if (hasMoved) document.querySelector<HTMLElement>('[data-page-heading]')?.focus({ preventScroll: true })
  }, [path])
}
