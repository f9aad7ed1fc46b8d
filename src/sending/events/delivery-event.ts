import type { Instant } from '../../base/clock.ts'
import type { DatabaseSchema, EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

/** What a bounce means, and whether the recipient is suppressed because of it. */
export interface Bounce {
  readonly type: 'permanent' | 'transient' | 'undetermined'
  readonly scope: 'recipient' | 'infrastructure'
  readonly suppressed: boolean
}

/** Something that happened to an email, with the evidence for it. */
export interface DeliveryEvent {
  readonly emailId: Id<'eml'>
  /** The recipient's address; null: the email as a whole (`replied`, or a status that all its recipients take). */
  readonly recipient: string | null
  readonly type: EmailStatus | 'replied'
  readonly occurredAt: Instant
  readonly source: DatabaseSchema['email_events']['source']
  readonly smtpCode?: number | null
  readonly enhancedCode?: string | null
  /** The reply's text, or what happened, on one line. */
  readonly detail?: string | null
  readonly bounce?: Bounce | null
  readonly extra?: Readonly<Record<string, unknown>>
  /** 32 bytes, the same for an event that its source repeats: it is recorded once. */
  readonly repeatKey?: Buffer | null
  /** The provider's own id of the email, when this event gives it. */
  readonly providerMessageId?: string | null
  /** The Message-ID that recipients see, without angle brackets, when this event gives it. */
  readonly wireMessageId?: string | null
}
