import type { Reservation } from '../../api/idempotency/reservation.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Refusal } from '../../base/refusal.ts'
import type { EmailDescription } from './parse-request.ts'
import type { EnvelopeRecipient } from './recipients.ts'
import type { AuthorizedSender } from './sender.ts'
import type { SendingDomain } from './table.ts'

/** How an email came to us, which its first events say. */
export type EmailSource = 'api' | 'smtp'

/** An email that is composed and staged: the acceptance checks and its rows are all that is left. */
export interface SendCandidate {
  readonly emailId: Id<'eml'>
  /** Without angle brackets. */
  readonly messageId: string
  readonly sender: AuthorizedSender
  readonly source: EmailSource
  readonly domain: SendingDomain
  readonly email: EmailDescription
  readonly recipients: readonly EnvelopeRecipient[]
  readonly message: StagedMessage
  /** Under which the response is stored for repeated requests; undefined: the client gave no Idempotency-Key. */
  readonly reservation: Reservation | undefined
  /** The thread to join when In-Reply-To and References name none; undefined: the email begins one. */
  readonly threadId: string | undefined
  readonly quotaStatus: QuotaStatus
  /** The token of the message's unsubscribe link; null: the message has no link. */
  readonly unsubscribeToken: string | null
  readonly consumes: SingleUseItem | undefined
}

/** A composed message: stored already, or small and stored in the accepting transaction. */
export type StagedMessage =
  | { readonly kind: 'stored'; readonly blobId: Id<'blb'> }
  | { readonly kind: 'new'; readonly bytes: Buffer }

/** The HTTP status of `quota_exceeded`: 402 for POST /v1/emails alone, 422 for all else that sends. */
export type QuotaStatus = 402 | 422

/** What only one send may use up, such as a draft: removed in the transaction that accepts the email. */
export interface SingleUseItem {
  /** Its database id. */
  readonly id: string
  /** Locks it until the transaction ends; false: it is gone, or changed since the send read it. */
  lock(db: Db): Promise<boolean>
  /** The refusal of a send whose item could not be locked. */
  refuse(): Refusal
  /** Removes it, once it is locked. */
  remove(db: Db): Promise<void>
}

/** A candidate with the instant of its acceptance, unique in its organization. */
export interface StampedCandidate extends SendCandidate {
  readonly createdAt: Instant
}
