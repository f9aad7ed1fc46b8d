import type { Reservation } from '../api/idempotency/reservation.ts'
import { newId } from '../base/ids.ts'
import { timed } from '../base/observability/metrics.ts'
import type { QuotaStatus, SingleUseItem } from './accept/candidate.ts'
import type { CompleteEmail } from './accept/enqueue.ts'
import type { SendDeps } from './accept/open-sending.ts'
import {
  contentRefusals,
  type EmailDescription,
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

/** The refusals of {@link prepare}. */
export const prepareRefusals = [...fromRefusals, ...fillTemplateRefusals, ...limitRefusals, ...contentRefusals] as const

/**
 * Resolves an email's From and template, and composes its message: what is done before the database is written to.
 * @throws Refusal for whatever keeps the email from being sent and shows by then
 */
export async function prepare(request: SendRequest, deps: SendDeps): Promise<CompleteEmail> {
  const { sender, fields, reservation, threadId, quotaStatus = 402, consumes } = request
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
  return {
    emailId,
    messageId,
    sender,
    source: 'api',
    domain,
    email: withoutContent(email),
    recipients: envelopeRecipients(email.recipients),
    bytes,
    reservation,
    threadId,
    quotaStatus,
    unsubscribeToken,
    consumes,
  }
}

function withUnsubscribeLink(email: OutgoingEmail, token: string | null, publicUrl: string): OutgoingEmail {
  return token === null ? email : { ...email, headers: [...email.headers, ...unsubscribeHeaders(publicUrl, token)] }
}

/** The content is in the message by now; a batch would keep all of it in memory. */
function withoutContent({ text: _, html: __, attachments, ...email }: OutgoingEmail): EmailDescription {
  return { ...email, attachments: attachments.map(({ content: _, ...attachment }) => attachment) }
}
