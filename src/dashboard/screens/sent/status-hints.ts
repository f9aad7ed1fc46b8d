import type { EmailStatus } from './email-status.ts'

/** Each status in a sentence, as its hint. */
export const statusHints: Readonly<Record<EmailStatus, string>> = {
  scheduled: 'Accepted, to be sent later.',
  queued: 'Accepted; not handed to the relay yet.',
  sending: 'Being handed to the relay.',
  sent: 'The relay has it. Nobody has reported us that it was delivered.',
  delayed: 'An attempt failed; another is to come.',
  delivered: 'The recipient’s server took it, according to a report.',
  bounced: 'It came back.',
  complained: 'The recipient reported it as spam.',
  suppressed: 'Not sent: the address is on the suppression list.',
  rejected: 'The relay refused the email.',
  failed: 'Given up.',
  canceled: 'Canceled before it was sent.',
}
