import type { ComponentProps, ReactNode } from 'react'
import { classes } from '../classes.ts'

export interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  /** What it does, for screen readers and as its title. */
  readonly label: string
  /** A lucide icon. */
  readonly icon: ReactNode
  readonly size?: 'small' | 'medium'
  /** For a button that turns something on and off: a star, a filter. */
  readonly isPressed?: boolean
}

/** A button that is only an icon. */
export function IconButton({ label, icon, size = 'medium', isPressed, className, ...props }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      {...props}
      className={classes(
        'inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink',
        'disabled:opacity-55 [&_svg]:size-4 pointer-coarse:size-10',
        size === 'small' ? 'size-7' : 'size-8',
        className,
      )}
    >
      {icon}
    </button>
  )
}
