const messages = (n: number, isMore = false) =>
  `${n.toLocaleString('en')}${isMore ? '+' : ''} ${n === 1 && !isMore ? 'message' : 'messages'}`

export const quarantineStrings = {
  title: 'Quarantine',
  hint: 'Messages that the scanner found infected, and those it could not scan. Nothing here can be downloaded.',
  all: 'All',
  infected: 'Infected',
  unscanned: 'Not scanned',
  filter: 'Reason',
  from: 'From',
  to: 'To',
  subject: 'Subject',
  verdict: 'Verdict',
  received: 'Received',
  size: 'Size',
  noSubject: '(no subject)',
  notScanned: 'not scanned',
  empty: 'The quarantine is empty',
  emptyHint:
    'The scanner found nothing, and could scan everything. What it finds infected, or cannot scan, is kept here and not delivered.',
  envelope: 'Envelope sender',
  client: 'Received from',
  authentication: 'Checks',
  messageHash: 'SHA-256 of the message',
  attachments: 'Attachments',
  header: 'Header',
  noHeader: 'Its content was deleted.',
  log: 'What operators did',
  nextScan: 'Next scan',
  never: 'none',
  allOfHash: 'All with this attachment',
  actions: {
    release: {
      name: 'Release',
      title: (n: number, isMore: boolean) => `Release ${messages(n, isMore)}?`,
      effect:
        'They go to the inbox of their mailboxes, where they are read and downloaded like any other. The verdict stays visible.',
      done: (n: number) => `${messages(n)} released`,
    },
    delete: {
      name: 'Delete',
      title: (n: number, isMore: boolean) => `Delete ${messages(n, isMore)}?`,
      effect: 'They are deleted for good. This cannot be undone.',
      done: (n: number) => `${messages(n)} deleted`,
    },
    rescan: {
      name: 'Scan again',
      title: (n: number, isMore: boolean) => `Scan ${messages(n, isMore)} again?`,
      effect: 'They are scanned within seconds. What is clean is delivered, what is infected stays.',
      done: (n: number) => `${messages(n)} will be scanned`,
    },
  },
  infectedAmong: (n: number) => `The scanner found ${messages(n)} of these infected: whoever opens one may be harmed.`,
} as const
