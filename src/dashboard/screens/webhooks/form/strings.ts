import type { WebhookPreset } from './presets.ts'

const presets: Readonly<Record<WebhookPreset, { readonly label: string; readonly hint: string }>> = {
  arrivals: { label: 'Mail that arrives', hint: 'Each message, as it is filed.' },
  failures: { label: 'Mail that fails', hint: 'Bounces, complaints and refusals.' },
  emails: { label: 'Sent emails', hint: 'Every step of every email.' },
  all: { label: 'Everything', hint: 'All that happens.' },
}

/** What the form of a webhook says. */
export const formStrings = {
  url: 'Address of the receiver',
  urlHint: 'An https address that the server can reach. Private addresses are refused unless the operator allows them.',
  types: 'What it gets',
  presets,
  oneByOne: 'Choose one by one',
  chosen: (count: number) => (count === 1 ? '1 type' : `${count} types`),
  brand: 'Brand',
  brandHint: 'A webhook of one brand gets the events of that brand alone.',
  allBrands: 'All brands',
  more: 'Description, mailboxes, headers',
  description: 'Description',
  descriptionHint: 'For the people here: what receives it.',
  mailboxes: 'Mailboxes',
  mailboxesHint: 'Only messages to these. None ticked: to all.',
  headers: 'Headers',
  headersHint: 'Sent with every delivery, such as a token of the receiver. They are not shown again.',
  headersChange: 'The headers that it has are not shown. What is entered here replaces all of them.',
  headerName: (position: number) => `Name of header ${position}`,
  headerValue: (position: number) => `Value of header ${position}`,
  addHeader: 'Add a header',
  removeHeader: (position: number) => `Remove header ${position}`,
  createTitle: 'Create a webhook',
  create: 'Create webhook',
  createdTitle: 'The webhook is created',
  editTitle: 'Edit the webhook',
  save: 'Save',
  saved: 'The webhook is changed.',
  done: 'Done',
} as const
