import type { Delivery } from '../webhook.ts'
import type { Since } from './delivery-filter.ts'

const statuses: Readonly<Record<Delivery['status'], string>> = {
  delivered: 'delivered',
  retrying: 'retrying',
  failed: 'failed',
}

const spans: Readonly<Record<Since, string>> = {
  hour: 'The last hour',
  day: 'The last 24 hours',
  week: 'The last 7 days',
}

const whole = new Intl.NumberFormat('en')

/** What the deliveries of a webhook say. */
export const deliveryStrings = {
  title: 'Deliveries',
  hint: 'Every event that was sent to it, newest first, and what it answered.',
  filter: 'Status',
  all: 'All',
  statuses,
  since: 'When',
  anyTime: 'Any time',
  spans,
  replay: 'Replay…',
  event: 'Event',
  status: 'Status',
  attempt: 'Attempt',
  answered: 'Answer',
  noAnswer: 'none',
  took: 'Took',
  ms: (value: number) => `${whole.format(value)} ms`,
  at: 'Sent',
  next: 'Next attempt',
  again: 'again',
  actions: 'Actions',
  open: (type: string) => `Details of ${type}`,
  retry: 'Send again',
  retried: 'It is sent again now.',
  empty: 'Nothing was sent yet',
  emptyHint: 'As soon as something happens that this webhook gets, it stands here. You can send a test meanwhile.',
  emptyFiltered: 'No delivery matches',
  emptyFilteredHint: 'None has this status in this time.',
  detailTitle: 'Delivery',
  error: 'Error',
  eventId: 'webhook-id',
  id: 'Id',
  sameId: 'The same at each attempt: a receiver that has seen it has the event already.',
  replayTitle: 'Replay events',
  replayHint: 'Sends events again that are still kept, in their order, each with its own webhook-id.',
  only: 'Which',
  onlyFailed: 'Those that failed',
  onlyFailedHint: 'Whose delivery was given up.',
  onlyAll: 'All of them',
  onlyAllHint: 'Also what the receiver has already: it must know repetitions by webhook-id.',
  from: 'From',
  to: 'To',
  toHint: 'Empty: until now.',
  types: 'Only some types',
  preview: 'See how many',
  found: (count: number, isMore: boolean) =>
    `${whole.format(count)}${isMore ? ' or more' : ''} ${count === 1 && !isMore ? 'event' : 'events'} would be sent again.`,
  noneFound: 'No event of this time would be sent.',
  change: 'Change',
  replayNow: (count: number, isMore: boolean) =>
    `Send ${whole.format(count)}${isMore ? '+' : ''} ${count === 1 && !isMore ? 'event' : 'events'}`,
  replaying: 'They are sent again, beside what is new.',
} as const
