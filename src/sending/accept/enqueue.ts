import { counter, timed } from '../../base/observability/metrics.ts'
import { refuse } from '../../base/refusal.ts'
import type { AcceptedEmail } from './accepted-response.ts'
import type { SendCandidate } from './candidate.ts'
import type { SendDeps } from './open-sending.ts'
import { stageMessage } from './stage-message.ts'

/** An email with its complete message, which is still to be checked and stored. */
export interface CompleteEmail extends Omit<SendCandidate, 'message'> {
  /** CRLF line ends, 7 bit, without Bcc and DKIM-Signature. */
  readonly bytes: Buffer
}

const acceptedTotal = counter('mailroom_emails_accepted_total', 'Emails accepted for delivery.')

/** @throws Refusal `unavailable` */
export function requireDiskSpace({ hasDiskSpace }: Pick<SendDeps, 'hasDiskSpace'>): void {
  if (hasDiskSpace?.() === false)
    throw refuse('unavailable', {
      message: 'There is no disk space for more emails at the moment; try again later.',
      retryAfterSeconds: 60,
    })
}

/**
 * The end of each way to send: stages the message, applies the acceptance checks (checks.ts), and enqueues the email for
 * the relay. Resolves once it is committed.
 * @throws Refusal of the first check that the email fails
 */
export async function checkAndEnqueue({ bytes, ...email }: CompleteEmail, deps: SendDeps): Promise<AcceptedEmail> {
  const { organizationId } = email.sender
  const message = await timed('out', 'stage', () => stageMessage(bytes, organizationId, deps.blobs))
  const accepted = await timed('out', 'enqueue', () => deps.acceptor.checkAndEnqueue({ ...email, message }))
  acceptedTotal.inc()
  deps.wake()
  return accepted
}
