const count = (value: number) => value.toLocaleString('en')

export const queueStrings = {
  title: 'Queue',
  hint: 'What was accepted and is not yet handed to the relay. Nothing here is lost: it is tried again until it expires.',
  total: 'In the queue',
  due: 'Due now',
  inFlight: 'Being submitted',
  later: 'Later',
  held: 'Held',
  oldest: 'Oldest due',
  organizations: 'Organizations with the most waiting',
  domains: 'Recipient domains with the most waiting',
  recipients: 'Recipients',
  recipient: 'Recipient',
  from: 'From',
  age: 'Accepted',
  next: 'Next attempt',
  attempts: 'Attempts',
  reply: 'Last reply',
  status: 'Status',
  anyStatus: 'Any status',
  onlyHeld: 'Only held',
  clear: 'Show all',
  filtered: 'Only',
  act: 'Act on all of these',
  actOne: (recipient: string) => `Actions for ${recipient}`,
  empty: 'Nothing waits',
  emptyHint:
    'Every accepted email was handed to the relay. What cannot be handed over at once waits here, with the reason.',
  noneMatch: 'Nothing in the queue matches',
  noneMatchHint: 'It may have been handed over since. Show all to see the rest.',
  heldBecause: (reason: string) => `held: ${reason}`,
  isHeld: 'held',
  submitting: 'being submitted',
  none: '–',
  reason: 'Reason',
  reasonHint: 'A note for operators. The API does not show it.',
  wholeQueue: 'This is the whole queue.',
  others: 'The others stay as they are:',
  outcomes: {
    in_flight: (n: number) => `${count(n)} being submitted now`,
    as_it_was: (n: number) => `${count(n)} already so`,
    held: (n: number) => `${count(n)} held`,
    scheduled: (n: number) => `${count(n)} scheduled for later`,
  },
  actions: {
    retry: {
      name: 'Retry now',
      title: (n: string) => `Retry ${n} now?`,
      effect: 'The next attempt is made at once instead of after its wait.',
      done: (n: number) => `${recipientsOf(n)} due now`,
      progress: 'Retrying',
    },
    hold: {
      name: 'Hold',
      title: (n: string) => `Hold ${n}?`,
      effect:
        'Nothing of it is sent until it is released. A hold gives no more time: what expires while it is held fails.',
      done: (n: number) => `${recipientsOf(n)} held`,
      progress: 'Holding',
    },
    release: {
      name: 'Release',
      title: (n: string) => `Release ${n}?`,
      effect: 'What is held is sent at once, or at the time it is scheduled for.',
      done: (n: number) => `${recipientsOf(n)} released`,
      progress: 'Releasing',
    },
    cancel: {
      name: 'Cancel',
      title: (n: string) => `Cancel ${n}?`,
      effect: 'They are removed from the queue for good, with the status canceled. This cannot be undone.',
      done: (n: number) => `${recipientsOf(n)} canceled`,
      progress: 'Canceling',
    },
  },
  many: (n: number, isMore: boolean) =>
    `${count(n)}${isMore ? '+' : ''} ${n === 1 && !isMore ? 'recipient' : 'recipients'}`,
} as const

function recipientsOf(n: number): string {
  return `${count(n)} ${n === 1 ? 'recipient' : 'recipients'}`
}
