import { createLink } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { classes } from '../classes.ts'
import { type ButtonKind, buttonClasses } from './Button.tsx'

interface AnchorProps extends ComponentProps<'a'> {
  readonly kind?: ButtonKind
  readonly size?: 'small' | 'medium'
  readonly icon?: ReactNode
}

function Anchor({ kind, size, icon, className, children, ...props }: AnchorProps) {
  return (
    <a {...props} className={classes(buttonClasses(kind, size), className)}>
      {icon}
      {children}
    </a>
  )
}

/** A link to a screen (`to`, `params`, `search`) that looks like a button. */
export const LinkButton = createLink(Anchor)
