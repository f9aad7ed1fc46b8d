import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../api/common-schemas.ts'
import { toIso } from '../base/clock.ts'
import { eventTypes } from './event-types.ts'
import type { SequencedEvent } from './table.ts'

/** The fields of an event as the feed and webhooks give it out. */
export const eventFields = {
  id: t.String(),
  sequence: t.Integer({
    description: 'Ascending, in the order in which the feed gives events out; numbers may be left out.',
  }),
  type: oneOf(eventTypes),
  brand_id: nullable(t.String({ description: 'null: it concerns the whole organization.' })),
  occurred_at: dateTimeSchema,
  data: t.Record(t.String(), t.Unknown(), {
    description:
      'What the API shows of what happened, by type: an InboxItem with `reply_text` for `message.*`, the email and one recipient ' +
      'for `email.*`, a suppression, a domain, a brand. Never a body or an attachment.',
  }),
}

export const eventSchema = t.Object(eventFields, { title: 'Event' })

export type EventJson = typeof eventSchema.static

export function toJsonEvent(event: SequencedEvent): EventJson {
  return { ...fieldsOf(event), data: JSON.parse(event.data) as Record<string, unknown> }
}

/** The same as text, with the data as it was written. */
export function eventText(event: SequencedEvent): string {
  return `${JSON.stringify(fieldsOf(event)).slice(0, -1)},"data":${event.data}}`
}

function fieldsOf({ id, sequence, type, brand_id, occurred_at }: SequencedEvent) {
  return { id, sequence, type, brand_id, occurred_at: toIso(occurred_at) }
}
