import type { Db } from '../../base/database/database.ts'
import { counter, timed } from '../../base/observability/metrics.ts'
import { refuse } from '../../base/refusal.ts'
import type { AcceptResult } from './accept.ts'
import type { AcceptedEmail } from './accepted-response.ts'
import type { SendCandidate } from './candidate.ts'
import type { SendDeps } from './open-sending.ts'
import { maxUnstagedBytes, stageMessage } from './stage-message.ts'

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
export async function checkAndEnqueue(email: CompleteEmail, deps: SendDeps): Promise<AcceptedEmail> {
  const candidate = await stage(email, maxUnstagedBytes, deps)
  const accepted = await timed('out', 'enqueue', () => deps.acceptor.checkAndEnqueue(candidate))
  acceptedTotal.inc()
  deps.wake()
  return accepted
}

/**
 * The same for the staged emails of one request, in one transaction; see {@link Acceptor.acceptTogether}.
 * @param conclude called in the transaction with the result of each; what it throws rolls all of them back
 */
export async function checkAndEnqueueTogether(
  candidates: readonly SendCandidate[],
  conclude: (tx: Db, results: readonly AcceptResult[]) => Promise<void>,
  deps: SendDeps,
): Promise<void> {
  const results = await timed('out', 'enqueue_batch', () => deps.acceptor.acceptTogether(candidates, conclude))
  const accepted = results.filter(({ kind }) => kind === 'accepted').length
  if (accepted === 0) return
  acceptedTotal.inc(accepted)
  deps.wake()
}

/** Stages the message of an email: one larger than `maxUnstaged` bytes is stored, ahead of the accepting transaction. */
export async function stage(
  { bytes, ...email }: CompleteEmail,
  maxUnstaged: number,
  { blobs }: Pick<SendDeps, 'blobs'>,
): Promise<SendCandidate> {
  const { organizationId } = email.sender
  const message = await timed('out', 'stage', () => stageMessage(bytes, organizationId, blobs, maxUnstaged))
  return { ...email, message }
}
