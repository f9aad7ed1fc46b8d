import type { Reservation } from '../../api/idempotency/reservation.ts'
import { type Instant, plusMs, toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type DatabaseSchema, type EmailStatus, toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import type { Refusal } from '../../base/refusal.ts'
import { formatAddress, splitAddress } from '../../mail/address.ts'
import type { SendAccepted } from '../emails/schema.ts'
import { hashUnsubscribeToken } from '../suppressions/unsubscribe-link.ts'
import {
  type AcceptanceFacts,
  type CheckedSend,
  type EnvelopeRecipient,
  isSuppressed,
  type QuotaStatus,
} from './checks.ts'
import type { OutgoingEmail } from './parse-request.ts'
import type { AuthorizedSender } from './resolve.ts'
import type { EmailRows, SendingDomain } from './table.ts'

/** What only one send may use up: it goes in the transaction that accepts the email, or the send is refused. */
export interface SingleUseItem {
  /** The same for the same thing. */
  readonly id: string
  /** Takes hold of it until the transaction ends; false: it is no longer as the send has it. */
  lock(db: Db): Promise<boolean>
  /** The refusal of a send that cannot have it. */
  refuse(): Refusal
  /** Removes it, once it is held. */
  remove(db: Db): Promise<void>
}

/** A send that is composed: all that is left is to accept it. */
export interface SendCandidate {
  readonly emailId: Id<'eml'>
  readonly messageId: string
  readonly sender: AuthorizedSender
  readonly domain: SendingDomain
  readonly outgoing: OutgoingEmail
  readonly recipients: readonly EnvelopeRecipient[]
  /** The message: stored already, or small and stored when it is accepted. */
  readonly message:
    | { readonly kind: 'stored'; readonly blobId: Id<'blb'> }
    | { readonly kind: 'new'; readonly bytes: Buffer }
  /** Whoever holds it may store the answer; undefined: the client gave no Idempotency-Key. */
  readonly reservation: Reservation | undefined
  /** The thread that it joins where what it refers to names none; undefined: one that begins with it. */
  readonly threadId: string | undefined
  readonly quotaStatus: QuotaStatus
  /** What the message's link to unsubscribe holds; null: it has none. */
  readonly unsubscribeToken: string | null
  readonly consumes: SingleUseItem | undefined
}

/** A send with the instant at which it is accepted, unique in its organization. */
export interface StampedCandidate extends SendCandidate {
  readonly createdAt: Instant
}

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

/** What the gate is asked about a send. */
export function checkedSend({ domain, outgoing: { unsubscribe }, recipients }: StampedCandidate): CheckedSend {
  return { domainId: domain.id, domain: domain.domain, brandId: domain.brandId, recipients, unsubscribe }
}

/** What becomes of a send that passed the gate: those on the suppression list are not sent to. */
export function acceptedEmail(send: StampedCandidate, facts: AcceptanceFacts): AcceptedEmail {
  const { domain, outgoing, recipients } = send
  const status = outgoing.scheduledAt === null ? 'queued' : 'scheduled'
  const gated = checkedSend(send)
  return {
    id: send.emailId,
    status,
    messageId: send.messageId,
    brandId: domain.brandId,
    recipients: recipients.map(recipient => ({
      ...recipient,
      status: isSuppressed(gated, recipient, facts) ? 'suppressed' : status,
    })),
    createdAt: send.createdAt,
  }
}

/** As the API shows it. */
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

/** The answer's body, byte for byte the same for the first request and its repetitions. */
export function acceptedResponseBody(accepted: AcceptedEmail): string {
  return JSON.stringify(toJsonAccepted(accepted))
}

/** The rows of an accepted email: itself, its recipients, what happened so far, and what the relay is to do. */
export function emailRows(
  send: StampedCandidate,
  accepted: AcceptedEmail,
  given: { readonly threadId: string; readonly provider: string; readonly blobId: Id<'blb'> },
): EmailRows {
  const { createdAt, outgoing } = send
  const dueAt = outgoing.scheduledAt ?? createdAt
  const expiresAt = plusMs(dueAt, outgoing.expiresInMs)
  const whose = { organization_id: send.sender.organizationId, email_id: send.emailId }
  return {
    email: emailRow(send, accepted, { ...given, expiresAt }),
    recipients: accepted.recipients.map(({ email, type, status }, position) => ({
      ...whose,
      position,
      email,
      type,
      status,
      smtp_code: null,
      enhanced_code: null,
      detail: status === 'suppressed' ? 'on the suppression list' : null,
      updated_at: createdAt,
    })),
    events: accepted.recipients
      .filter(recipient => recipient.status === 'suppressed')
      .map(recipient => suppressedRow(whose, createdAt, recipient.email)),
    outbox: accepted.recipients.flatMap(({ email, status }, position) =>
      status === 'suppressed'
        ? []
        : [
            {
              id: newId('out'),
              ...whose,
              position,
              destination: splitAddress(email).domain,
              due_at: dueAt,
              lease: null,
              attempts: 0,
              expires_at: expiresAt,
              last_reply: null,
              created_at: createdAt,
            },
          ],
    ),
    unsubscribeLink: linkRow(send),
  }
}

function linkRow({ unsubscribeToken, sender, domain, emailId, recipients, createdAt }: StampedCandidate) {
  const [recipient] = recipients
  if (unsubscribeToken === null || !recipient) return null
  return {
    token_hash: hashUnsubscribeToken(unsubscribeToken),
    organization_id: sender.organizationId,
    brand_id: domain.brandId,
    email_id: emailId,
    email: recipient.email.toLowerCase(),
    created_at: createdAt,
  }
}

type Whose = Pick<DatabaseSchema['email_events'], 'organization_id' | 'email_id'>

function suppressedRow(whose: Whose, at: Instant, recipient: string): DatabaseSchema['email_events'] {
  return {
    id: newId('evt'),
    ...whose,
    recipient,
    type: 'suppressed',
    occurred_at: at,
    recorded_at: at,
    source: 'api',
    smtp_code: null,
    enhanced_code: null,
    detail: 'on the suppression list',
    bounce: null,
    extra: toJson({}),
    repeat_key: null,
  }
}

function emailRow(
  { emailId, sender, domain, outgoing, createdAt, messageId }: StampedCandidate,
  { status }: AcceptedEmail,
  given: {
    readonly threadId: string
    readonly provider: string
    readonly blobId: Id<'blb'>
    readonly expiresAt: Instant
  },
): EmailRows['email'] {
  const { recipients, attachments } = outgoing
  return {
    id: emailId,
    organization_id: sender.organizationId,
    brand_id: domain.brandId,
    domain_id: domain.id,
    api_key_id: sender.keyId,
    created_at: createdAt,
    scheduled_at: outgoing.scheduledAt,
    expires_at: given.expiresAt,
    status,
    message_id: messageId,
    thread_id: given.threadId,
    from_address: outgoing.from.address,
    from_header: formatAddress(outgoing.from),
    to_addresses: toJson(recipients.to.map(formatAddress)),
    cc_addresses: toJson(recipients.cc.map(formatAddress)),
    bcc_addresses: toJson(recipients.bcc.map(formatAddress)),
    reply_to: toJson(outgoing.replyTo.map(formatAddress)),
    subject: outgoing.subject,
    tags: toJson(outgoing.tags),
    metadata: toJson(outgoing.metadata),
    template: outgoing.template?.slug ?? null,
    attachments: toJson(
      attachments.map(({ id, filename, contentType, contentId, content }) => ({
        id,
        filename,
        content_type: contentType,
        size: content.length,
        content_id: contentId,
      })),
    ),
    attachment_count: attachments.length,
    blob_id: given.blobId,
    provider: given.provider,
    provider_message_id: null,
    sent_at: null,
    last_event_at: createdAt,
    error: null,
    unsubscribable: outgoing.unsubscribe ? 1 : 0,
  }
}
