import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { statusTone } from '../email-status.ts'
import { type LadderEvent, toEvidence } from '../ladder.ts'
import { EvidenceLine } from './EvidenceLine.tsx'
import { emailStrings as strings } from './strings.ts'

/** All events of an email, newest first, with their evidence. */
export function EmailEvents({ events }: { readonly events: readonly LadderEvent[] }) {
  return (
    <ul aria-label={strings.events} className="divide-y divide-line rounded-lg border border-line bg-surface">
      {events.toReversed().map(event => (
        <li
          key={event.id}
          className="grid items-start gap-x-4 px-3 py-2 text-sm sm:grid-cols-[6.5rem_minmax(0,11rem)_minmax(0,1fr)]"
        >
          <div className="flex h-6 items-center">
            <Status tone={event.type === 'replied' ? 'good' : statusTone(event.type)}>{event.type}</Status>
          </div>
          <div className="min-w-0 truncate leading-6 text-muted">
            {event.recipient === null ? strings.everyone : <SafeText text={event.recipient} />}
          </div>
          <EvidenceLine evidence={toEvidence(event)} />
        </li>
      ))}
    </ul>
  )
}
