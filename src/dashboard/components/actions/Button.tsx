import type { ComponentProps, ReactNode } from 'react'
import { classes } from '../classes.ts'
import { Spinner } from './Spinner.tsx'

/** How much a button asks for attention: at most one `primary` a view; `danger` for what cannot be undone. */
export type ButtonKind = 'primary' | 'secondary' | 'quiet' | 'danger'

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly kind?: ButtonKind
  readonly size?: 'small' | 'medium'
  /** A lucide icon before the text. */
  readonly icon?: ReactNode
  /** Under way: it cannot be pressed again, and says so to screen readers. */
  readonly isBusy?: boolean
  readonly children: ReactNode
}

const base =
  'inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors ' +
  'disabled:opacity-55 aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0 pointer-coarse:min-h-10'

const sizes = { small: 'h-7 px-2 text-sm', medium: 'h-8 px-3 text-base' }

const kinds: Readonly<Record<ButtonKind, string>> = {
  primary: 'bg-accent text-on-accent shadow-xs hover:bg-accent-hover',
  secondary: 'border border-line-strong bg-surface text-ink shadow-xs hover:bg-hover',
  quiet: 'text-muted hover:bg-hover hover:text-ink',
  danger: 'bg-bad-solid text-white shadow-xs hover:bg-bad-solid-hover',
}

/** The classes of a button, for a link that looks like one. */
export function buttonClasses(kind: ButtonKind = 'secondary', size: 'small' | 'medium' = 'medium'): string {
  return classes(base, sizes[size], kinds[kind])
}

/** A button with text. It submits no form unless `type="submit"`. */
export function Button({ kind, size, icon, isBusy = false, className, children, onClick, ...props }: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? event => event.preventDefault() : onClick}
      className={classes(buttonClasses(kind, size), className)}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
    </button>
  )
}
