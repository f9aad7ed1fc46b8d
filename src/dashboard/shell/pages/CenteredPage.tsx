import type { ReactNode } from 'react'
import { useTitle } from '../../hooks/title.ts'
import { Logo } from '../top-bar/Logo.tsx'
import { useHeadingFocus } from '../useHeadingFocus.ts'

interface CenteredPageProps {
  /** The heading, and the title of the window. */
  readonly title: string
  /** A sentence below it. */
  readonly hint?: ReactNode
  readonly children: ReactNode
}

/** A page without navigation: signing in, welcome, an invitation. */
export function CenteredPage({ title, hint, children }: CenteredPageProps) {
  useTitle(title)
  useHeadingFocus()
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center px-4 py-12">
      <Logo className="mb-6 size-9" />
      <h1 tabIndex={-1} data-page-heading="" className="text-xl font-semibold tracking-tight">
        {title}
      </h1>
      {hint && <div className="mt-1 text-muted">{hint}</div>}
      <div className="mt-6">{children}</div>
    </main>
  )
}
