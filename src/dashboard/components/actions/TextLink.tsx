import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import { classes } from '../classes.ts'

const look =
  'rounded-sm font-medium text-accent-ink underline decoration-accent-ink/30 underline-offset-3 hover:decoration-accent-ink'

function Anchor({ className, ...props }: ComponentProps<'a'>) {
  return <a {...props} className={classes(look, className)} />
}

/** A link to a screen, within text. */
export const TextLink = createLink(Anchor)
