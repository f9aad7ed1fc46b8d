import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../../api/organization-health.ts'
import { classes } from '../../components/classes.ts'
import { ToneIcon } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { LampLink } from './LampLink.tsx'
import { lampText, lampTones } from './lamp.ts'
import { statusStrings as strings } from './strings.ts'

const inks = { info: 'text-accent-ink', warn: 'text-warn', bad: 'text-bad' }

/** What needs somebody in the organization, on every screen; nothing when all is well. */
export function StatusStrip() {
  const { api } = useOrganization()
  const { data } = useQuery(statusQuery(api))
  if (!data || data.data.length === 0) return null
  return (
    <section aria-label={strings.label} className="border-b border-line bg-surface">
      <ul className="flex gap-1 overflow-x-auto px-3 py-1.5 sm:flex-wrap sm:px-7">
        {data.data.map(lamp => (
          <li key={lamp.name} className="shrink-0">
            <LampLink
              lamp={lamp}
              title={lamp.detail ?? undefined}
              className={classes(
                'inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm font-medium hover:bg-hover pointer-coarse:h-10',
                inks[lampTones[lamp.level]],
              )}
            >
              <ToneIcon tone={lampTones[lamp.level]} />
              <span className="sr-only">{strings.levels[lamp.level]}: </span>
              {lampText(lamp)}
              {lamp.since && (
                <span className="font-normal text-faint">
                  <span className="sr-only">{strings.since} </span>
                  <Time at={lamp.since} />
                </span>
              )}
            </LampLink>
          </li>
        ))}
      </ul>
    </section>
  )
}
