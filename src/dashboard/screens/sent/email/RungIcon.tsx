import { Ban, Check, Circle, CircleDashed, CircleHelp, Clock, TriangleAlert } from 'lucide-react'
import { classes } from '../../../components/classes.ts'
import type { RungState } from '../ladder.ts'

const looks = {
  proven: [Check, 'bg-good-soft text-good ring-good/50'],
  delayed: [TriangleAlert, 'bg-warn-soft text-warn ring-warn/50'],
  waiting: [Clock, 'bg-surface text-muted ring-line-strong'],
  unconfirmed: [CircleHelp, 'bg-surface text-warn ring-warn/50'],
  implied: [Circle, 'bg-surface text-muted ring-line-strong'],
  missed: [CircleDashed, 'bg-surface text-faint ring-line'],
  open: [CircleDashed, 'bg-surface text-faint ring-line'],
  off: [Ban, 'bg-bad-soft text-bad ring-bad/50'],
  harmless: [Ban, 'bg-sunken text-muted ring-line-strong'],
} as const

interface RungIconProps {
  /** `off`: the way ended badly here; `harmless`: it was ended. */
  readonly state: RungState | 'off' | 'harmless'
  readonly className?: string
}

/** The sign of a rung: filled with a tick only where there is evidence. Its meaning stands beside it in words. */
export function RungIcon({ state, className = 'size-6 [&_svg]:size-3.5' }: RungIconProps) {
  const [Icon, look] = looks[state]
  return (
    <span
      aria-hidden="true"
      className={classes(
        'inline-flex shrink-0 items-center justify-center rounded-full ring-1 ring-inset',
        look,
        className,
      )}
    >
      <Icon />
    </span>
  )
}
