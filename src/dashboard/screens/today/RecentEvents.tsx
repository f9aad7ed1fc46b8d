import { useRouter } from '@tanstack/react-router'
import type { RecentEvent } from '../../api/organization-health.ts'
import { Section } from '../../components/layout/Section.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Status } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { statusTone } from '../sent/email-status.ts'
import { todayStrings as strings } from './strings.ts'

/** The last events of emails and received messages; each opens what it is about. */
export function RecentEvents({ events }: { readonly events: readonly RecentEvent[] }) {
  return (
    <Section title={strings.events}>
      {events.length === 0 ? (
        <p className="text-muted">{strings.noEvents}</p>
      ) : (
        <ul
          aria-label={strings.events}
          className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
        >
          {events.map(event => (
            <EventRow key={event.id} event={event} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function EventRow({ event }: { readonly event: RecentEvent }) {
  const { organization } = useOrganization()
  const router = useRouter()
  const isGood = event.type === 'received' || event.type === 'replied'
  const path = event.kind === 'email' ? 'sent' : 'mail/m'
  const href = `/app/${organization.id}/${path}/${event.subject_id}`
  return (
    <li className="relative grid grid-cols-[6.5rem_minmax(0,1fr)_auto] items-center gap-3 px-3 py-2 text-sm hover:bg-hover">
      <Status tone={isGood ? 'info' : statusTone(event.type)}>{event.type}</Status>
      <a
        href={href}
        className="min-w-0 truncate after:absolute after:inset-0"
        onClick={click => {
          if (click.metaKey || click.ctrlKey || click.shiftKey) return
          click.preventDefault()
          router.history.push(href)
        }}
      >
        <SafeText text={event.subject} none={strings.noSubject} />
        {event.address && (
          <span className="text-faint">
            {' · '}
            <SafeText text={event.address} />
          </span>
        )}
      </a>
      <span className="text-faint">
        <Time at={event.at} />
      </span>
    </li>
  )
}
