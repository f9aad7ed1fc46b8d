import type { Id } from '../../../base/ids.ts'
import type { EventType } from '../../../events/event-types.ts'

/** Whose changes a stream hears of: an organization's, or those that operators see. */
export type LiveScope = Id<'org'> | 'instance'

const topicsOfOrganizations = ['messages', 'emails', 'domains', 'suppressions', 'brands', 'webhooks', 'events'] as const

/** What a stream is told of: the first element of the query keys that the page loads again. */
export type Topic = (typeof topicsOfOrganizations)[number] | 'tasks'

/** All topics of a scope. */
export function topicsOf(scope: LiveScope): readonly Topic[] {
  return scope === 'instance' ? ['tasks'] : topicsOfOrganizations
}

const topicOf = {
  message: 'messages',
  email: 'emails',
  domain: 'domains',
  suppression: 'suppressions',
  brand: 'brands',
  webhook: 'webhooks',
} as const satisfies Record<string, Topic>

/** The topics that events of these types change, in the order of {@link topicsOf}. */
export function topicsOfEvents(types: Iterable<EventType>): readonly Topic[] {
  const changed = new Set<Topic>()
  for (const type of types) changed.add(topicOf[type.slice(0, type.indexOf('.')) as keyof typeof topicOf]).add('events')
  return topicsOfOrganizations.filter(topic => changed.has(topic))
}
