import { useState } from 'react'
import { CopyButton } from '../../components/actions/CopyButton.tsx'
import { Segmented } from '../../components/fields/Segmented.tsx'
import { CodeBlock } from '../../components/text/CodeBlock.tsx'
import { showControls } from '../../components/text/SafeText.tsx'
import { followLine } from './curl.ts'
import { Destinations } from './Destinations.tsx'
import { EventTargetLink } from './EventTargetLink.tsx'
import type { FeedEvent } from './event.ts'
import { eventStrings as strings } from './strings.ts'
import { webhookRequest } from './webhook-request.ts'

const forms = [
  { value: 'json', label: strings.json },
  { value: 'webhook', label: strings.webhook },
] as const
type Form = (typeof forms)[number]['value']

interface EventDetailsProps {
  readonly event: FeedEvent
  readonly types: readonly string[]
}

/** An event as the feed has it, and as a webhook gets it. */
export function EventDetails({ event, types }: EventDetailsProps) {
  const [form, setForm] = useState<Form>('json')
  const { cursor, ...json } = event
  return (
    <div className="flex min-w-0 flex-col gap-2 px-3 pt-1 pb-3 sm:pl-9">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Segmented label={strings.form} value={form} onValue={setForm} options={forms} />
        <CopyButton isWide text={followLine(location.origin, cursor, types)} label={strings.followFrom} />
        <EventTargetLink event={event} />
      </div>
      {form === 'webhook' && (
        <>
          <p className="text-sm text-muted">{strings.webhookHint}</p>
          <Destinations event={event} />
        </>
      )}
      <CodeBlock
        label={form === 'json' ? strings.json : strings.webhook}
        code={showControls(form === 'json' ? JSON.stringify(json, null, 2) : webhookRequest(json))}
      />
    </div>
  )
}
