import type { Reservation } from '../../api/idempotency/reservation.ts'
import { millisecondsOf } from '../../base/clock.ts'
import { type Id, newId } from '../../base/ids.ts'
import { timed } from '../../base/observability/metrics.ts'
import { formatDate } from '../../mail/date.ts'
import type { AcceptedEmail } from '../accept/accepted-response.ts'
import { checkAndEnqueue, requireDiskSpace } from '../accept/enqueue.ts'
import type { SendDeps } from '../accept/open-sending.ts'
import { requireWithinLimits } from '../accept/parse-request.ts'
import { resolveFrom } from '../accept/resolve.ts'
import type { AuthorizedSender } from '../accept/sender.ts'
import { withoutPrivateFields } from './read-message.ts'
import type { SubmittedMessage } from './submitted-message.ts'

/** A submitted message to send. */
export interface MessageToSubmit {
  readonly sender: AuthorizedSender
  readonly message: SubmittedMessage
  readonly reservation: Reservation | undefined
  /** How we got it, in Received: `by mail.example with ESMTPSA`. RFC 5321 §4.4. */
  readonly received: string
}

/**
 * Accepts a message that a client has composed itself: resolve → complete → check → enqueue. After the message, all is the
 * same as with send() in ../send.ts, its acceptance checks included.
 * @throws Refusal for whatever keeps the email from being sent
 */
export async function submit(submission: MessageToSubmit, deps: SendDeps): Promise<AcceptedEmail> {
  const { sender, message, reservation } = submission
  requireDiskSpace(deps)
  const { email, recipients } = message
  const domain = await timed('out', 'resolve', () => resolveFrom(email.from, sender, deps.findDomain))
  requireWithinLimits(email)

  const emailId = newId('eml')
  const messageId = message.messageId ?? `${emailId.slice(4)}@${domain.domain}`
  const bytes = completeMessage(submission, { emailId, messageId }, deps)
  return await checkAndEnqueue(
    {
      emailId,
      messageId,
      sender,
      source: 'smtp',
      domain,
      email,
      recipients,
      bytes,
      reservation,
      threadId: undefined,
      quotaStatus: 402,
      unsubscribeToken: null,
      consumes: undefined,
    },
    deps,
  )
}

/** The client's message with our fields in front, and without what must not reach recipients. The relay adds an absent Date. */
function completeMessage(
  { message, received }: MessageToSubmit,
  { emailId, messageId }: { readonly emailId: Id<'eml'>; readonly messageId: string },
  { clock }: Pick<SendDeps, 'clock'>,
): Buffer {
  const at = formatDate(millisecondsOf(clock.now()))
  const fields = [
    `Received: ${received} id ${emailId.slice(4)};\r\n\t${at}`,
    `X-Mailroom-Id: ${emailId}`,
    ...(message.messageId === null ? [`Message-ID: <${messageId}>`] : []),
  ]
  const ours = Buffer.from(fields.map(field => `${field}\r\n`).join(''), 'latin1')
  return Buffer.concat([ours, withoutPrivateFields(message.bytes, message.messageId === null)])
}
