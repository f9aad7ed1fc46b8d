/** What is kept for a time of its own, and what `./mailroom retention` calls it. */
export const retentionKinds = {
  sent_bodies: 'the content of sent emails; the email, its recipients and its events stay',
  attachments: 'the attachments of sent and received mail; a line of text takes the place of each',
  raw_messages: 'received messages as they came; what lists and search show of them stays',
  events: 'what happened to emails; their status stays',
  request_log: 'requests to the API',
  spam: 'messages in spam, whole, from when they came there',
  trash: 'messages in trash, whole, from when they came there',
  quarantine: 'messages in quarantine, whole, from when they came there; not while they wait for a scan',
} as const satisfies Record<string, string>

export type RetentionKind = keyof typeof retentionKinds

export const retentionKindNames = Object.keys(retentionKinds) as readonly RetentionKind[]

export function isRetentionKind(text: string): text is RetentionKind {
  return text in retentionKinds
}

/** Days, or null: for ever. */
export type RetentionDays = number | null

/** A provider may tell the same again for some days, which the events are compared with. */
const minimumEventDays = 7

export interface RetentionSettings {
  readonly requestLogDays: number
  /** Rates of bounces and complaints are counted in the events of so many hours. */
  readonly pauseWindowHours: number
}

/** What holds where nobody has set anything. */
export function defaultDays({ requestLogDays }: RetentionSettings): Readonly<Record<RetentionKind, RetentionDays>> {
  return {
    sent_bodies: null,
    attachments: null,
    raw_messages: null,
    events: null,
    request_log: requestLogDays,
    spam: 30,
    trash: 30,
    quarantine: 90,
  }
}

/** The shortest time that something is kept, whatever is set. */
export function minimumDays(kind: RetentionKind, { pauseWindowHours }: RetentionSettings): number {
  return kind === 'events' ? Math.max(minimumEventDays, Math.ceil(pauseWindowHours / 24)) : 1
}
