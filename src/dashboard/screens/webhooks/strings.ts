import type { Webhook } from './webhook.ts'

const statuses: Readonly<Record<Webhook['status'], string>> = {
  active: 'active',
  failing: 'failing',
  disabled: 'disabled',
}

const reasons: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  requested: 'by hand',
  gone: 'it answered 410',
  failing: 'five days of failures',
  not_allowed: 'not allowed any more',
  operator: 'by the operator',
}

const whole = new Intl.NumberFormat('en')

/** What the screens of the webhooks say. */
export const webhookStrings = {
  title: 'Webhooks',
  hint: 'Addresses of your programs that Mailroom calls when something happens.',
  create: 'Create webhook',
  url: 'Address',
  status: 'Status',
  statuses,
  reasons,
  since: 'since',
  gets: 'Gets',
  types: (count: number) => (count === 1 ? '1 type' : `${whole.format(count)} types`),
  allTypes: 'Everything',
  brand: 'Brand',
  allBrands: 'All brands',
  lag: 'Behind',
  upToDate: 'up to date',
  waiting: 'waiting',
  lastSuccess: 'Last success',
  empty: 'No webhooks yet',
  emptyHint:
    'A webhook tells a program of yours at once: a message has come, an email bounced. This receives them; create a webhook with its address.',
  emptyNoWrite: 'A webhook tells a program at once what happens here.',
  language: 'Language',
  receiver: { typescript: 'A receiver in TypeScript', python: 'A receiver in Python' },
  secret: 'Signing secret',
  verify: 'Check every signature with it',
  verifyHint:
    'Deliveries are signed after Standard Webhooks. Store the secret as WEBHOOK_SECRET, and run this where the address leads to.',
  response: 'What it answered',
  noResponse: 'It answered without a body.',
} as const
