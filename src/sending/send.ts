import type { Reservation } from '../api/idempotency/reservation.ts'
import { newId } from '../base/ids.ts'
import { timed } from '../base/observability/metrics.ts'
import type { AcceptedEmail } from './accept/accepted-response.ts'
import type { QuotaStatus, SingleUseItem } from './accept/candidate.ts'
import { acceptanceRefusals } from './accept/checks.ts'
import { checkAndEnqueue, requireDiskSpace } from './accept/enqueue.ts'
import type { SendDeps } from './accept/open-sending.ts'
import {
  contentRefusals,
  limitRefusals,
  type OutgoingEmail,
  parseSendRequest,
  requireContent,
  requireWithinLimits,
} from './accept/parse-request.ts'
import { envelopeRecipients } from './accept/recipients.ts'
import { fromRefusals, resolveFrom } from './accept/resolve.ts'
import type { AuthorizedSender } from './accept/sender.ts'
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
export const sendRefusals = [
  ...fromRefusals,
  ...fillTemplateRefusals,
  ...limitRefusals,
  ...contentRefusals,
  ...acceptanceRefusals,
] as const

/**
 * Accepts an email for delivery: resolve → compose → check → enqueue. What it resolves to is committed; the relay delivers
 * it. The acceptance checks stand in accept/checks.ts. A message that a client has composed itself goes submission/submit.ts.
 * @throws Refusal for whatever keeps the email from being sent
 */
export async function send(request: SendRequest, deps: SendDeps): Promise<AcceptedEmail> {
  const { sender, fields, reservation, threadId, quotaStatus = 402, consumes } = request
  requireDiskSpace(deps)
  const parsed = parseSendRequest(fields, deps.clock.now())
  const domain = await timed('out', 'resolve', () => resolveFrom(parsed.from, sender, deps.findDomain))
  const email = await fillTemplate(parsed, domain, deps)
  requireWithinLimits(email)
  requireContent(email)

  const emailId = newId('eml')
  const messageId = `${emailId.slice(4)}@${domain.domain}`
  const unsubscribeToken = email.unsubscribe ? newUnsubscribeToken() : null
  const bytes = await timed('out', 'compose', async () =>
    compose(withUnsubscribeLink(email, unsubscribeToken, deps.publicUrl), { emailId, messageId }),
  )
  const recipients = envelopeRecipients(email.recipients)
  return await checkAndEnqueue(
    {
      emailId,
      messageId,
      sender,
      source: 'api',
      domain,
      email,
      recipients,
      bytes,
      reservation,
      threadId,
      quotaStatus,
      unsubscribeToken,
      consumes,
    },
    deps,
  )
}

function withUnsubscribeLink(email: OutgoingEmail, token: string | null, publicUrl: string): OutgoingEmail {
  return token === null ? email : { ...email, headers: [...email.headers, ...unsubscribeHeaders(publicUrl, token)] }
}
