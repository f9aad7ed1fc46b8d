import type { Instant } from '../../base/clock.ts'
import type { OriginalMessage } from './returned-message.ts'

/** What happened to a message for one recipient, as a report says (RFC 3464 §2.3.3). */
export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** One recipient of the reported message. */
export interface ReportedRecipient {
  /** As the reporter knows the address; empty: the report does not name it. */
  readonly finalRecipient: string
  /** As we submitted the address (ORCPT). */
  readonly originalRecipient: string | null
  readonly action: ReportedAction
  /** The enhanced status code (RFC 3463). */
  readonly enhancedCode: string | null
  readonly smtpCode: number | null
  /** The cause, quoted or in words, on one line. */
  readonly diagnostic: string | null
  /** All that the notification says in words, without what it says of other recipients; empty unless it failed. */
  readonly notice: string
  /** The server whose reply the report quotes. */
  readonly remoteMta: string | null
  /** Last-Attempt-Date; null: the report has none. */
  readonly lastAttemptAt: Instant | null
}

/** What a message reports about another one. These are claims of its author: nothing is verified. */
export interface Report {
  /** The report's own Message-ID, without angle brackets. */
  readonly messageId: string | null
  /** The report's Date, by the clock of its author; null: it has none. */
  readonly writtenAt: Instant | null
  readonly kind: 'bounce' | 'delayed' | 'delivered' | 'relayed' | 'complaint' | 'auto-reply' | 'none'
  readonly recipients: readonly ReportedRecipient[]
  readonly reportingMta: string | null
  /** ENVID (RFC 3461 §4.4). */
  readonly envelopeId: string | null
  /** Feedback-Type (RFC 5965 §3.1) in lower case. */
  readonly feedbackType: string | null
  /** What the report returns of the reported message. */
  readonly original: OriginalMessage
  /** The subject and the text, on one line of at most 1,000 characters; empty where `kind` says what the report means. */
  readonly words: string
}
