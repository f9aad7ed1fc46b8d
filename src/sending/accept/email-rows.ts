import { type Instant, plusMs } from '../../base/clock.ts'
import { type DatabaseSchema, toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import { formatAddress, splitAddress } from '../../mail/address.ts'
import { hashUnsubscribeToken } from '../suppressions/unsubscribe-link.ts'
import type { AcceptedEmail } from './accepted-response.ts'
import type { EmailSource, StampedCandidate } from './candidate.ts'
import type { EmailRows } from './table.ts'

/** What is decided outside the email itself. */
interface EmailPlacement {
  readonly threadId: string
  /** The name of the provider that will deliver. */
  readonly provider: string
  readonly blobId: Id<'blb'>
}

/** The rows of an accepted email: itself, its recipients, its first events, and one outbox row for each recipient to send to. */
export function emailRows(candidate: StampedCandidate, accepted: AcceptedEmail, placement: EmailPlacement): EmailRows {
  const { createdAt, email } = candidate
  const dueAt = email.scheduledAt ?? createdAt
  const expiresAt = plusMs(dueAt, email.expiresInMs)
  const key = { organization_id: candidate.sender.organizationId, email_id: candidate.emailId }
  return {
    email: emailRow(candidate, accepted, { ...placement, expiresAt }),
    recipients: accepted.recipients.map(({ email, type, status }, position) => ({
      ...key,
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
      .map(recipient => suppressedEventRow(key, createdAt, recipient.email, candidate.source)),
    outbox: accepted.recipients.flatMap(({ email, status }, position) =>
      status === 'suppressed'
        ? []
        : [
            {
              id: newId('out'),
              ...key,
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
    unsubscribeLink: unsubscribeLinkRow(candidate),
  }
}

function unsubscribeLinkRow({ unsubscribeToken, sender, domain, emailId, recipients, createdAt }: StampedCandidate) {
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

type EmailKey = Pick<DatabaseSchema['email_events'], 'organization_id' | 'email_id'>

function suppressedEventRow(
  key: EmailKey,
  at: Instant,
  recipient: string,
  source: EmailSource,
): DatabaseSchema['email_events'] {
  return {
    id: newId('evt'),
    ...key,
    recipient,
    type: 'suppressed',
    occurred_at: at,
    recorded_at: at,
    source,
    smtp_code: null,
    enhanced_code: null,
    detail: 'on the suppression list',
    bounce: null,
    extra: toJson({}),
    repeat_key: null,
  }
}

function emailRow(
  { emailId, sender, source, domain, email, createdAt, messageId }: StampedCandidate,
  { status }: AcceptedEmail,
  placement: EmailPlacement & { readonly expiresAt: Instant },
): EmailRows['email'] {
  const { recipients, attachments } = email
  return {
    id: emailId,
    organization_id: sender.organizationId,
    brand_id: domain.brandId,
    domain_id: domain.id,
    api_key_id: sender.keyId,
    created_at: createdAt,
    scheduled_at: email.scheduledAt,
    expires_at: placement.expiresAt,
    status,
    message_id: messageId,
    thread_id: placement.threadId,
    from_address: email.from.address,
    from_header: formatAddress(email.from),
    to_addresses: toJson(recipients.to.map(formatAddress)),
    cc_addresses: toJson(recipients.cc.map(formatAddress)),
    bcc_addresses: toJson(recipients.bcc.map(formatAddress)),
    reply_to: toJson(email.replyTo.map(formatAddress)),
    subject: email.subject,
    tags: toJson(email.tags),
    metadata: toJson(email.metadata),
    template: email.template?.slug ?? null,
    attachments: toJson(
      attachments.map(({ id, filename, contentType, contentId, size }) => ({
        id,
        filename,
        content_type: contentType,
        size,
        content_id: contentId,
      })),
    ),
    attachment_count: attachments.length,
    blob_id: placement.blobId,
    provider: placement.provider,
    provider_message_id: null,
    sent_at: null,
    last_event_at: createdAt,
    error: null,
    unsubscribable: email.unsubscribe ? 1 : 0,
    source,
  }
}
