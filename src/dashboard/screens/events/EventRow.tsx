import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { classes } from '../../components/classes.ts'
import { SafeText } from '../../components/text/SafeText.tsx'
import { ToneIcon } from '../../components/text/Status.tsx'
import { Time } from '../../components/text/Time.tsx'
import { EventDetails } from './EventDetails.tsx'
import { type FeedEvent, summaryOf, toneOf } from './event.ts'
import { eventStrings as strings } from './strings.ts'

interface EventRowProps {
  readonly event: FeedEvent
  /** What the list is narrowed to. */
  readonly types: readonly string[]
}

/** An event in the list; the whole row unfolds it. */
export function EventRow({ event, types }: EventRowProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { name, text } = summaryOf(event)
  return (
    <div>
      <div className="relative grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-2 gap-y-0.5 px-3 py-2 text-sm sm:grid-cols-[auto_minmax(0,13rem)_minmax(0,1fr)_auto]">
        <ChevronRight
          className={classes('size-4 text-faint transition-transform', isOpen && 'rotate-90')}
          aria-hidden="true"
        />
        <button
          type="button"
          data-open=""
          aria-expanded={isOpen}
          aria-controls={id}
          aria-label={strings.open(event.type)}
          className="inline-flex min-w-0 items-center gap-1.5 text-left after:absolute after:inset-0 focus-visible:outline-offset-0"
          onClick={() => setOpen(!isOpen)}
        >
          <ToneIcon tone={toneOf(event.type)} />
          <span className="min-w-0 truncate font-mono text-xs">{event.type}</span>
        </button>
        <span className="col-span-2 col-start-2 row-start-2 min-w-0 truncate sm:col-span-1 sm:col-start-3 sm:row-start-1">
          {name && <SafeText text={name} />}
          {name && text && <span className="text-faint"> · </span>}
          {text && <SafeText text={text} className="text-muted" />}
        </span>
        <span className="text-faint sm:col-start-4">
          <Time at={event.occurred_at} />
        </span>
      </div>
      <div id={id} hidden={!isOpen}>
        {isOpen && <EventDetails event={event} types={types} />}
      </div>
    </div>
  )
}
