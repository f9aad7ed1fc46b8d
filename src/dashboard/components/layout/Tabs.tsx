import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'

/** Views of one thing, beside each other; each is in the URL: {@link TabLink}. */
export function Tabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <nav aria-label={label} className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
      {children}
    </nav>
  )
}

function Anchor(props: ComponentProps<'a'>) {
  return (
    <a
      {...props}
      className="-mb-px inline-flex h-9 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-sm font-medium whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink pointer-coarse:h-11"
    />
  )
}

/** A link to a view: `to`, `search` or `params`, as of any link of the router. */
export const TabLink = createLink(Anchor)
