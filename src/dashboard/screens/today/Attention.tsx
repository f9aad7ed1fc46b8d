import { ChevronRight, CircleCheck } from 'lucide-react'
import type { StatusLamp } from '../../api/organization-health.ts'
import { Section } from '../../components/layout/Section.tsx'
import { ToneIcon } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { LampLink } from '../../shell/status/LampLink.tsx'
import { lampText, lampTones } from '../../shell/status/lamp.ts'
import { todayStrings as strings } from './strings.ts'

/** What needs a person, each with the screen where it is mended. */
export function Attention({ lamps }: { readonly lamps: readonly StatusLamp[] }) {
  return (
    <Section title={strings.attention}>
      {lamps.length === 0 ? (
        <p className="flex items-center gap-2 rounded-lg border border-line bg-surface px-3 py-2.5 text-muted">
          <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />
          {strings.allWell}
        </p>
      ) : (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {lamps.map(lamp => (
            <li key={lamp.name}>
              <LampLink lamp={lamp} className="flex items-start gap-2.5 px-3 py-2.5 hover:bg-hover">
                <ToneIcon tone={lampTones[lamp.level]} className="mt-0.5 size-4" />
                <span className="min-w-0 flex-1">
                  <span className="font-medium">{lampText(lamp)}</span>
                  {lamp.detail && <span className="block text-sm text-muted">{lamp.detail}</span>}
                </span>
                {lamp.since && (
                  <span className="text-sm text-faint">
                    <Time at={lamp.since} />
                  </span>
                )}
                <ChevronRight className="mt-0.5 size-4 shrink-0 text-faint" aria-hidden="true" />
              </LampLink>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
