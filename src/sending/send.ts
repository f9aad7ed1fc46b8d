import type { Reservation } from '../api/idempotency/reservation.ts'
import { newId } from '../base/ids.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { refuse } from '../base/refusal.ts'
import type { AcceptedEmail } from './accept/accepted-response.ts'
import type { QuotaStatus, SingleUseItem } from './accept/candidate.ts'
import { acceptanceRefusals } from './accept/checks.ts'
import type { SendDeps } from './accept/open-sending.ts'
import { limitRefusals, type OutgoingEmail, parseSendRequest, requireWithinLimits } from './accept/parse-request.ts'
import { envelopeRecipients } from './accept/recipients.ts'
import { fromRefusals, resolveFrom } from './accept/resolve.ts'
import type { AuthorizedSender } from './accept/sender.ts'
import { stageMessage } from './accept/stage-message.ts'
import { compose } from './compose/compose.ts'
import type { SendEmail } from './emails/schema.ts'
import { newUnsubscribeToken, unsubscribeHeaders } from './suppressions/unsubscribe-link.ts'
import { fillTemplate, fillTemplateRefusals } from './templates/fill-template.ts'

/** A request to send an email. */
export interface SendRequest {
  readonly sender: AuthorizedSender
  readonly fields: SendEmail
  readonly reservation?: Reservation | undefined
  /** The thread of the brand to join when In-Reply-To and References name none. */
  readonly threadId?: string
  /** The HTTP status of `quota_exceeded`; 402 by default. */
  readonly quotaStatus?: QuotaStatus
  /** What is removed when the email is accepted, such as the draft that is sent. */
  readonly consumes?: SingleUseItem
}

/** The refusals of {@link send}. */
export const sendRefusals = [...fromRefusals, ...fillTemplateRefusals, ...limitRefusals, ...acceptanceRefusals] as const

const acceptedTotal = counter('mailroom_emails_accepted_total', 'Emails accepted for delivery.')

/**
 * Accepts an email for delivery: resolve → compose → check → enqueue. What it resolves to is committed; the relay delivers
 * it. The acceptance checks stand in accept/checks.ts.
 * @throws Refusal for whatever keeps the email from being sent
 */
export async function send(request: SendRequest, deps: SendDeps): Promise<AcceptedEmail> {
  const { sender, fields, reservation, threadId, quotaStatus = 402, consumes } = request
  requireDiskSpace(deps)
  const parsed = parseSendRequest(fields, deps.clock.now())
  const domain = await timed('out', 'resolve', () => resolveFrom(parsed.from, sender, deps.findDomain))
  const email = await fillTemplate(parsed, domain, deps)
  requireWithinLimits(email)

  const emailId = newId('eml')
  const messageId = `${emailId.slice(4)}@${domain.domain}`
  const unsubscribeToken = email.unsubscribe ? newUnsubscribeToken() : null
  const bytes = await timed('out', 'compose', async () =>
    compose(withUnsubscribeLink(email, unsubscribeToken, deps.publicUrl), { emailId, messageId }),
  )
  const message = await timed('out', 'stage', () => stageMessage(bytes, sender.organizationId, deps.blobs))
  const recipients = envelopeRecipients(email.recipients)

  const accepted = await timed('out', 'enqueue', () =>
    deps.acceptor.checkAndEnqueue({
      emailId,
      messageId,
      sender,
      domain,
      email,
      recipients,
      message,
      reservation,
      threadId,
      quotaStatus,
      unsubscribeToken,
      consumes,
    }),
  )
  acceptedTotal.inc()
  deps.wake()
  return accepted
}

function requireDiskSpace({ hasDiskSpace }: SendDeps): void {
  if (hasDiskSpace?.() === false)
    throw refuse('unavailable', {
      message: 'There is no disk space for more emails at the moment; try again later.',
      retryAfterSeconds: 60,
    })
}

function withUnsubscribeLink(email: OutgoingEmail, token: string | null, publicUrl: string): OutgoingEmail {
  return token === null ? email : { ...email, headers: [...email.headers, ...unsubscribeHeaders(publicUrl, token)] }
}
