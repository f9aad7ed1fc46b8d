import { type EventGroupKey, type EventType, eventGroups, isEventType } from '../../components/events/event-types.ts'

/** Which events are shown; what is absent matches all. */
export interface EventFilter {
  /** A type, or all types about one thing. */
  readonly type?: EventType | EventGroupKey
  /** New ones appear by themselves. */
  readonly live?: true
}

/** What of the URL is a filter. */
export function readEventFilter(search: Readonly<Record<string, unknown>>): EventFilter {
  const { type, live } = search
  const group = eventGroups.find(({ key }) => key === type)
  const shown = isEventType(type) ? type : group?.key
  return { ...(shown && { type: shown }), ...(live === true && { live }) }
}

/** The types that a filter asks for, as the API's query has them; empty: all. */
export function typesOf(type: EventFilter['type']): readonly EventType[] {
  if (type === undefined) return []
  return isEventType(type) ? [type] : (eventGroups.find(({ key }) => key === type)?.types ?? [])
}
