import type { EmailStatus } from './email-status.ts'

/** What the list of sent emails says. */
export const sentStrings = {
  title: 'Sent',
  hint: 'Every email that was accepted for sending, and what is known of it.',
  label: 'Sent emails',
  more: (count: number) => `+${count}`,
  noSubject: '(no subject)',
  scheduledFor: 'for',
  exportCsv: 'Export CSV',
  export: 'Export',
  filters: 'Filters',
  status: 'Status',
  anyStatus: 'Any status',
  tag: 'Tag',
  tagPlaceholder: 'name:value',
  recipient: 'Recipient',
  recipientPlaceholder: 'Address',
  apply: 'Filter',
  clear: 'Clear filters',
  newOnes: (count: number, more: boolean) => `${count}${more ? '+' : ''} new`,
  empty: 'Nothing sent yet',
  emptyHint: 'Emails that your programs or you send appear here, with the evidence for each recipient.',
  emptyNotReady: 'First set up a domain to send from. Then this is how a program sends:',
  language: 'Language',
  curl: 'Send with curl',
  typescript: 'Send with TypeScript',
  noMatch: 'No email matches',
  noMatchHint: 'Nothing was sent that all these filters match.',
  noneYet: 'Nothing on this page matches; older emails may.',
} as const

/** Each status in a sentence, as its hint. */
export const statusHints: Readonly<Record<EmailStatus, string>> = {
  scheduled: 'Accepted, to be sent later.',
  queued: 'Accepted; not handed to the relay yet.',
  sending: 'Being handed to the relay.',
  sent: 'The relay has it. Nobody has told us that it was delivered.',
  delayed: 'An attempt failed; another is to come.',
  delivered: 'The recipient’s server took it, according to a report.',
  bounced: 'It came back.',
  complained: 'The recipient reported it as spam.',
  suppressed: 'Not sent: the address is on the suppression list.',
  rejected: 'The relay refused the email.',
  failed: 'Given up.',
  canceled: 'Canceled before it was sent.',
}
