import { type EventType, eventTypes } from '../../../components/events/event-types.ts'

/** A usual set of event types. */
export type WebhookPreset = 'arrivals' | 'failures' | 'emails' | 'all'

const typesOf: Readonly<Record<WebhookPreset, readonly EventType[]>> = {
  arrivals: ['message.received', 'message.released'],
  failures: ['email.bounced', 'email.complained', 'email.rejected', 'email.failed', 'suppression.created'],
  emails: eventTypes.filter(type => type.startsWith('email.')),
  all: eventTypes,
}

const presetNames = Object.keys(typesOf) as readonly WebhookPreset[]

/** The types of a preset that may be chosen. */
export function presetTypes(name: WebhookPreset, offered: readonly EventType[]): readonly EventType[] {
  return typesOf[name].filter(type => offered.includes(type))
}

/** The presets of which something may be chosen, without those that come to the same as an earlier one. */
export function offeredPresets(offered: readonly EventType[]): readonly WebhookPreset[] {
  const given = presetNames.map(name => presetTypes(name, offered).join(' '))
  return presetNames.filter((_, i) => given[i] !== '' && given.indexOf(given[i] ?? '') === i)
}

/** The preset with exactly these types; null: they were chosen one by one. */
export function presetOf(types: readonly EventType[], offered: readonly EventType[]): WebhookPreset | null {
  const chosen = new Set(types)
  return (
    offeredPresets(offered).find(name => {
      const inPreset = presetTypes(name, offered)
      return inPreset.length === chosen.size && inPreset.every(type => chosen.has(type))
    }) ?? null
  )
}
