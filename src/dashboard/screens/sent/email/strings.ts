import type { EvidenceSource, OffLadder, RungName, RungState } from '../ladder.ts'

/** What the screen of one sent email says. */
export const emailStrings = {
  back: 'Sent',
  noSubject: '(no subject)',
  from: 'From',
  to: 'To',
  cc: 'Cc',
  bcc: 'Bcc',
  replyTo: 'Reply-To',
  accepted: 'Accepted',
  scheduledFor: 'Scheduled for',
  template: 'Template',
  tags: 'Tags',
  messageId: 'Message-ID',
  wireMessageId: 'Message-ID that recipients see',
  provider: 'Provider',
  providerId: 'Provider’s id',
  attachments: 'Attachments',
  id: 'Email',
  recipients: 'Recipients',
  recipientsHint: 'How far it came with each, and by what evidence. A step without evidence stays hollow.',
  ladderOf: (recipient: string) => `Steps of ${recipient}`,
  sourceOf: 'Source',
  moreEvidence: (count: number) => `${count} more`,
  ambiguous: 'At one attempt the connection was lost after the message: the relay may have taken it twice.',
  events: 'Events',
  eventsHint: 'Everything that was recorded, newest first.',
  everyone: 'all recipients',
  eventTime: 'Time',
  eventType: 'Event',
  eventRecipient: 'Recipient',
  eventEvidence: 'Evidence',
  content: 'Content',
  html: 'HTML',
  text: 'Text',
  headers: 'Headers',
  contentView: 'Shown as',
  contentOf: 'The email as it was sent',
  purged: 'The content was deleted at the end of its retention time.',
  noContent: 'It has no content of this kind.',
  replies: 'Replies',
  openReply: 'Open the reply',
  details: 'Details',
  origin: 'Where it came from',
  key: 'API key',
  dashboard: 'Sent from the dashboard, or by a key that was deleted',
  revoked: 'revoked',
  request: 'Request',
  noRequest: 'Not in the request log',
  client: 'Client',
  cancel: 'Cancel sending',
  cancelTitle: 'Cancel this email?',
  cancelHint: 'None of its recipients will get it. This cannot be undone.',
  canceled: 'The email was canceled.',
  writeAgain: 'Write again',
  actions: (recipient: string) => `Actions for ${recipient}`,
  suppress: 'Suppress this address',
  unsuppress: 'Remove the suppression',
  suppressed: 'The address is suppressed: nothing more is sent to it.',
  unsuppressed: 'The address is not suppressed any more.',
  isSuppressed: 'on the suppression list',
} as const

/** The rungs. */
export const rungStrings: Readonly<Record<RungName, string>> = {
  accepted: 'Accepted by us',
  handed_over: 'Handed to the relay',
  taken: 'Taken by the recipient’s server',
  answered: 'Answered',
}

/** What each rung proves when there is evidence. */
export const proofStrings: Readonly<Record<RungName, string>> = {
  accepted: 'We have stored it durably, and answer for it.',
  handed_over: 'The relay’s server took it over. That is no delivery: it says nothing of the recipient.',
  taken: 'A report says that the recipient’s server accepted it. Not that anybody has read it.',
  answered: 'A message that answers this email was received.',
}

/** What a rung without evidence means. */
export const stateStrings: Readonly<Record<Exclude<RungState, 'proven'>, string>> = {
  delayed: 'Delayed: an attempt failed, and another is to come.',
  waiting: 'Next. Nothing is known yet.',
  unconfirmed: 'Unconfirmed: nobody told us.',
  implied: 'No report of this step, but a later one shows that it happened.',
  missed: 'Not reached.',
  open: 'Nothing is known yet.',
}

/** Why nobody told us, by what the provider reports; null: another provider sends now. */
export const reportStrings: Readonly<Record<'dsn' | 'webhook' | 'none' | 'unknown', string>> = {
  none: 'This relay reports nothing about what it has taken.',
  dsn: 'This relay reports by mail what fails; of a delivery it is silent, unless the next server asks it not to be.',
  webhook:
    'This provider reports deliveries to our webhook, and no report of this one came: see whether its webhook arrives.',
  unknown: 'It was handed to another provider than the one that sends now.',
}

/** What ended the way, and what that means. */
export const offStrings: Readonly<Record<OffLadder, readonly [title: string, proof: string]>> = {
  bounced: ['Bounced', 'A server refused it for this recipient, and it came back.'],
  complained: ['Complained', 'The recipient reported it as spam. It did arrive.'],
  suppressed: ['Suppressed', 'The address was on the suppression list: it was not sent.'],
  rejected: ['Rejected', 'The relay refused the email itself, not the recipient.'],
  failed: ['Failed', 'It was given up: no attempt succeeded in time.'],
  canceled: ['Canceled', 'It was canceled before the relay had it.'],
}

/** Who observed something. */
export const sourceStrings: Readonly<Record<EvidenceSource, string>> = {
  api: 'Mailroom itself',
  submission: 'submitted by SMTP',
  smtp: 'the relay’s reply',
  provider_webhook: 'the provider’s webhook',
  dsn: 'a report by mail',
  inbound: 'a received message',
}
