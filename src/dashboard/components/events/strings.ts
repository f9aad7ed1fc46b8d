import type { EventGroupKey, EventType } from './event-types.ts'

const groups: Readonly<Record<EventGroupKey, string>> = {
  message: 'Received messages',
  email: 'Sent emails',
  suppression: 'Suppressions',
  domain: 'Domains',
  brand: 'Brands',
  webhook: 'Webhooks',
}

const hints: Readonly<Record<EventType, string>> = {
  'message.received': 'A message is in a mailbox: inbox or spam.',
  'message.quarantined': 'A message waits in quarantine.',
  'message.released': 'A message was released from quarantine.',
  'email.scheduled': 'Accepted, to be sent later.',
  'email.queued': 'Accepted, and waiting to be handed to the relay.',
  'email.sending': 'Being handed to the relay.',
  'email.sent': 'The relay has it. This is not delivered.',
  'email.delayed': 'An attempt failed; another is to come.',
  'email.delivered': 'The recipient’s server took it, according to a report.',
  'email.bounced': 'It came back.',
  'email.complained': 'The recipient reported it as spam.',
  'email.suppressed': 'Not sent: the address is on the suppression list.',
  'email.rejected': 'The relay refused it.',
  'email.failed': 'Given up.',
  'email.canceled': 'Canceled before it was sent.',
  'email.replied': 'Somebody answered it.',
  'email.unconfirmed': 'Nobody has reported whether it was delivered.',
  'suppression.created': 'An address is on the suppression list.',
  'suppression.deleted': 'An address was taken off the suppression list.',
  'domain.verified': 'A domain may send.',
  'domain.failed': 'A domain’s records are not as they have to be.',
  'domain.receiving_live': 'A domain receives mail.',
  'brand.paused': 'A brand sends nothing for now.',
  'brand.resumed': 'A brand sends again.',
  'webhook.disabled': 'A webhook was switched off.',
}

/** What the types of events are called. */
export const eventTypeStrings = {
  groups,
  hints,
  all: 'All',
  none: 'None',
  allOf: (group: string) => `All: ${group}`,
  noneOf: (group: string) => `None: ${group}`,
} as const
