import type { ReactNode } from 'react'
import { classes } from '../../components/classes.ts'
import { ToneIcon } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { type Lamp, lampText, lampTones } from './lamp.ts'
import { statusStrings as strings } from './strings.ts'

const inks = { info: 'text-accent-ink', warn: 'text-warn', bad: 'text-bad' }

/** What the link of a lamp is drawn with. */
export interface LampLinkProps {
  readonly title: string | undefined
  readonly className: string
  readonly children: ReactNode
}

interface LampListProps<Shown extends Lamp> {
  readonly lamps: readonly Shown[]
  /** Draws the link to where the lamp is mended. */
  readonly link: (lamp: Shown, props: LampLinkProps) => ReactNode
}

/** The lamps of a status strip, each a link; nothing when all is well. */
export function LampList<Shown extends Lamp>({ lamps, link }: LampListProps<Shown>) {
  if (lamps.length === 0) return null
  return (
    <section aria-label={strings.label} className="border-b border-line bg-surface">
      <ul className="flex gap-1 overflow-x-auto px-3 py-1.5 sm:flex-wrap sm:px-7">
        {lamps.map(lamp => (
          <li key={lamp.name} className="shrink-0">
            {link(lamp, {
              title: lamp.detail ?? undefined,
              className: classes(
                'inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm font-medium hover:bg-hover pointer-coarse:h-10',
                inks[lampTones[lamp.level]],
              ),
              children: (
                <>
                  <ToneIcon tone={lampTones[lamp.level]} />
                  <span className="sr-only">{strings.levels[lamp.level]}: </span>
                  {lampText(lamp)}
                  {lamp.since && (
                    <span className="font-normal text-faint">
                      <span className="sr-only">{strings.since} </span>
                      <Time at={lamp.since} />
                    </span>
                  )}
                </>
              ),
            })}
          </li>
        ))}
      </ul>
    </section>
  )
}
