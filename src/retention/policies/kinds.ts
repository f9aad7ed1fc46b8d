/** The kinds of stored data with a retention time of their own, as `./mailroom retention` names and describes them. */
export const retentionKinds = {
  sent_bodies: 'content of sent emails; the email, its recipients and its events stay',
  attachments: 'attachments of sent and received mail; a line of text replaces each',
  raw_messages: 'raw content of received messages; what lists and search show stays',
  events: 'events of emails; their status stays',
  event_feed:
    'what GET /v1/events and webhooks tell of, for the whole organization; a reader who is later than that misses events',
  request_log: 'log of requests to the API',
  webhook_deliveries: 'deliveries to webhooks, counted from the last attempt',
  spam: 'whole messages, counted from when they came into spam',
  trash: 'whole messages, counted from when they came into trash',
  quarantine: 'whole messages, counted from when they came into quarantine; not while they wait to be scanned',
} as const satisfies Record<string, string>

export type RetentionKind = keyof typeof retentionKinds

export const retentionKindNames = Object.keys(retentionKinds) as readonly RetentionKind[]

export function isRetentionKind(text: string): text is RetentionKind {
  return text in retentionKinds
}

/** A retention time in days; null: forever. */
export type RetentionDays = number | null

/** A webhook is tried for five days, and a reader may be away for a weekend. */
const minimumFeedDays = 7

/** A provider may report the same event again for some days; it is recognized by the stored one. */
const minimumEventDays = 7

export interface RetentionSettings {
  readonly requestLogDays: number
  /** The bounce and complaint rates are computed from the events of so many hours. */
  readonly pauseWindowHours: number
}

/** The retention times where none is set. */
export function defaultDays({ requestLogDays }: RetentionSettings): Readonly<Record<RetentionKind, RetentionDays>> {
  return {
    sent_bodies: null,
    attachments: null,
    raw_messages: null,
    events: null,
    event_feed: 30,
    request_log: requestLogDays,
    webhook_deliveries: 14,
    spam: 30,
    trash: 30,
    quarantine: 90,
  }
}

/** The shortest retention time that can be set, in days. */
export function minimumDays(kind: RetentionKind, { pauseWindowHours }: RetentionSettings): number {
  if (kind === 'event_feed') return minimumFeedDays
  return kind === 'events' ? Math.max(minimumEventDays, Math.ceil(pauseWindowHours / 24)) : 1
}
