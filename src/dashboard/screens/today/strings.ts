/** What Today says. */
export const todayStrings = {
  title: 'Today',
  hint: 'Is mail coming in, is it going out, and what needs you.',
  attention: 'Needs you',
  allWell: 'Nothing needs you.',
  mail: 'The last 7 days',
  mailHint: 'By the hour: messages received, and emails accepted for sending.',
  plot: 'Messages received and emails accepted by hour, for the last seven days',
  received: 'Received',
  accepted: 'Accepted for sending',
  counting: 'Older hours are still being counted.',
  capped: 'Some hours had more than 100,000: they are drawn as 100,000.',
  statuses: 'Accepted in the last 24 hours',
  statusesHint: 'Each email once, by its status now. Sent is not delivered.',
  noStatuses: 'No email was accepted in the last 24 hours.',
  events: 'What happened last',
  noEvents: 'Nothing has happened yet.',
  receivedFrom: 'received from',
  noSubject: '(no subject)',
  steps: 'First steps',
  stepsHint: 'They tick themselves.',
  curl: 'Send with curl',
} as const

/** The first steps, in their order: what each is, and what to do. */
export const stepStrings = {
  domain_ready: ['A domain that is ready', 'Add a domain, and publish the records that it needs.', 'Domains'],
  mailbox: ['A mailbox', 'An address, or all of a domain’s, to receive mail for.', 'Mailboxes'],
  key: ['An API key', 'A program sends and reads with it.', 'Keys'],
  first_in: ['The first mail in', 'Write to the mailbox from anywhere.', null],
  first_out: ['The first mail out', 'Send one with the key:', null],
} as const
