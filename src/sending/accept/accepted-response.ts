import { type Instant, toIso } from '../../base/clock.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import type { SendAccepted } from '../emails/schema.ts'
import { isSuppressed, type SuppressionSets } from '../suppressions/suppression-sets.ts'
import type { StampedCandidate } from './candidate.ts'
import type { EnvelopeRecipient } from './recipients.ts'

/** An email that has been accepted for delivery. */
export interface AcceptedEmail {
  readonly id: Id<'eml'>
  readonly status: 'queued' | 'scheduled'
  /** Without angle brackets. */
  readonly messageId: string
  readonly brandId: Id<'brd'>
  readonly recipients: readonly (EnvelopeRecipient & { readonly status: EmailStatus })[]
  readonly createdAt: Instant
}

/** The email that a candidate which passed all checks becomes: suppressed recipients are listed, and not sent to. */
export function acceptedEmail(candidate: StampedCandidate, suppressions: SuppressionSets): AcceptedEmail {
  const { domain, email, recipients } = candidate
  const status = email.scheduledAt === null ? 'queued' : 'scheduled'
  const { brandId } = domain
  const { unsubscribe } = email
  return {
    id: candidate.emailId,
    status,
    messageId: candidate.messageId,
    brandId,
    recipients: recipients.map(recipient => ({
      ...recipient,
      status: isSuppressed({ brandId, unsubscribe }, recipient.email, suppressions) ? 'suppressed' : status,
    })),
    createdAt: candidate.createdAt,
  }
}

/** The 202 response's body, as the API shows it. */
export function toJsonAccepted(accepted: AcceptedEmail): SendAccepted {
  return {
    id: accepted.id,
    status: accepted.status,
    message_id: accepted.messageId,
    brand_id: accepted.brandId,
    recipients: accepted.recipients.map(({ email, type, status }) => ({ email, type, status })),
    created_at: toIso(accepted.createdAt),
  }
}

/** The same as text, byte for byte what repeated requests with the same Idempotency-Key get. */
export function acceptedResponseBody(accepted: AcceptedEmail): string {
  return JSON.stringify(toJsonAccepted(accepted))
}
