import type { Scope } from '../api/scope.ts'
import { emailStatuses } from '../base/database/schema.ts'
import { refuse } from '../base/refusal.ts'

/** All types of events, in the order in which the documentation lists them. */
export const eventTypes = [
  'message.received',
  'message.quarantined',
  'message.released',
  ...emailStatuses.map(status => `email.${status}` as const),
  'email.replied',
  'email.unconfirmed',
  'suppression.created',
  'suppression.deleted',
  'domain.verified',
  'domain.failed',
  'domain.receiving_live',
  'brand.paused',
  'brand.resumed',
  'webhook.disabled',
] as const

export type EventType = (typeof eventTypes)[number]

type EventSubject = EventType extends `${infer Subject}.${string}` ? Subject : never

/** What an event reports needs the scope that reading the same by the API needs. */
const scopes: Readonly<Record<EventSubject, Scope>> = {
  message: 'inbox:read',
  email: 'email:read',
  suppression: 'suppressions:read',
  domain: 'domains:read',
  brand: 'brands:read',
  webhook: 'webhooks:read',
}

const scopeByType = new Map<EventType, Scope>(
  eventTypes.map(type => [type, scopes[type.slice(0, type.indexOf('.')) as EventSubject]]),
)

/** The scope without which an event of this type is not shown. */
export function scopeOfEvent(type: EventType): Scope {
  const scope = scopeByType.get(type)
  if (!scope) throw new Error(`${type} has no scope`)
  return scope
}

/** The types whose events these scopes show. */
export function typesShownTo(granted: ReadonlySet<Scope>): readonly EventType[] {
  return eventTypes.filter(type => granted.has(scopeOfEvent(type)))
}

export function isEventType(text: string): text is EventType {
  return (eventTypes as readonly string[]).includes(text)
}

/** The refusals of {@link requireEventType}. */
export const eventTypeRefusals = ['invalid_request'] as const

/** @param param the parameter that names it @throws Refusal `invalid_request`, which names the type and lists those that exist */
export function requireEventType(text: string, param: string): EventType {
  if (isEventType(text)) return text
  throw refuse('invalid_request', {
    message: `There is no event type ${JSON.stringify(text.slice(0, 80))}; the types are ${eventTypes.join(', ')}.`,
    param,
  })
}
