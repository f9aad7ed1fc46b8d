import type { Permission } from '../../api/session.ts'

/** The types of events, by what they concern, as the API names them; each group needs one permission to be read. */
export const eventGroups = [
  {
    key: 'message',
    permission: 'inbox:read',
    types: ['message.received', 'message.quarantined', 'message.released'],
  },
  {
    key: 'email',
    permission: 'email:read',
    types: [
      'email.scheduled',
      'email.queued',
      'email.sending',
      'email.sent',
      'email.delayed',
      'email.delivered',
      'email.bounced',
      'email.complained',
      'email.suppressed',
      'email.rejected',
      'email.failed',
      'email.canceled',
      'email.replied',
      'email.unconfirmed',
    ],
  },
  {
    key: 'suppression',
    permission: 'suppressions:read',
    types: ['suppression.created', 'suppression.deleted'],
  },
  {
    key: 'domain',
    permission: 'domains:read',
    types: ['domain.verified', 'domain.failed', 'domain.receiving_live'],
  },
  { key: 'brand', permission: 'brands:read', types: ['brand.paused', 'brand.resumed'] },
  { key: 'webhook', permission: 'webhooks:read', types: ['webhook.disabled'] },
] as const satisfies readonly { key: string; permission: Permission; types: readonly string[] }[]

/** What events concern: the part of a type before the point. */
export type EventGroupKey = (typeof eventGroups)[number]['key']

/** A type of event. */
export type EventType = (typeof eventGroups)[number]['types'][number]

/** All types, in the order in which they are shown. */
export const eventTypes: readonly EventType[] = eventGroups.flatMap(({ types }) => [...types])

/** The types that a member may hear of. */
export function readableTypes(may: (permission: Permission) => boolean): readonly EventType[] {
  return eventGroups.flatMap(({ permission, types }) => (may(permission) ? [...types] : []))
}

export function isEventType(text: unknown): text is EventType {
  return (eventTypes as readonly unknown[]).includes(text)
}
