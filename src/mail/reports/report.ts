import type { Instant } from '../../base/clock.ts'
import type { OriginalMessage } from './returned-message.ts'

/** What a report says became of a message for one recipient; RFC 3464 §2.3.3. */
export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'

/** What a report says of one recipient. */
export interface ReportedRecipient {
  /** As the reporter knows it; empty: it does not say. */
  readonly finalRecipient: string
  /** As we submitted it (ORCPT). */
  readonly originalRecipient: string | null
  readonly action: ReportedAction
  /** RFC 3463. */
  readonly enhancedCode: string | null
  readonly smtpCode: number | null
  /** What the report quotes or says of the cause, on one line. */
  readonly diagnostic: string | null
  /** The server that the reporter had it from. */
  readonly remoteMta: string | null
  /** Last-Attempt-Date: when it was so; null: that is not told. */
  readonly lastAttemptAt: Instant | null
}

/** What a message reports of another one. Claims of whoever wrote it: nothing in it is proven. */
export interface Report {
  /** The report's own Message-ID, without angle brackets. */
  readonly messageId: string | null
  /** Its Date, by the clock of whoever wrote it; null: it has none. */
  readonly writtenAt: Instant | null
  readonly kind: 'bounce' | 'delayed' | 'delivered' | 'relayed' | 'complaint' | 'auto-reply' | 'none'
  readonly recipients: readonly ReportedRecipient[]
  readonly reportingMta: string | null
  /** ENVID (RFC 3461 §4.4). */
  readonly envelopeId: string | null
  /** Feedback-Type (RFC 5965 §3.1) in lower case. */
  readonly feedbackType: string | null
  /** What is told of the message that it is about. */
  readonly original: OriginalMessage
}
