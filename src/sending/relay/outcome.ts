import { type Instant, minuteMs, plusMs, toIso } from '../../base/clock.ts'
import type { ProviderReply, SubmissionOutcome } from '../../ports/provider/port.ts'
import type { Bounce, DeliveryEvent } from '../events/delivery-event.ts'
import { classifyBounce } from '../reports/classify-bounce.ts'
import type { DeliveryReport } from '../reports/reports.ts'
import type { ClaimedRecipient } from './outbox.ts'
import { nextAttemptAt, type RetryPolicy } from './retry.ts'

/** The domain has no key: what it sends would arrive unsigned. */
export class NoSigningKeyError extends Error {
  override readonly name = 'NoSigningKeyError'
}

/** What becomes of a claimed recipient. */
export type NextStep =
  /** It reached its end. `event` null: there is nothing new to tell. */
  | { readonly kind: 'end'; readonly event: DeliveryEvent | null }
  /** It waits for another attempt. `event` null: it is known to be delayed. */
  | {
      readonly kind: 'retry'
      readonly event: DeliveryEvent | null
      readonly dueAt: Instant
      readonly attempts: number
      readonly lastReply: string | null
    }

/** How long an email whose route is in trouble waits, where the breaker knows no better. */
const routeWaitMs = 1000

/** What follows from an outcome: its event, and whether there is another attempt. */
export function nextAfterOutcome(
  claimed: ClaimedRecipient,
  outcome: SubmissionOutcome,
  now: Instant,
  policy: RetryPolicy,
): NextStep {
  const event = outcomeToEvent(claimed, outcome, now)
  const attempts = claimed.attempts + 1
  switch (outcome.kind) {
    case 'accepted':
    case 'failed':
      return { kind: 'end', event }
    case 'deferred': {
      const dueAt = nextAttemptAt(attempts, now, claimed.expiresAt, policy)
      return { kind: 'retry', event, dueAt, attempts, lastReply: replyLine(outcome.reply) }
    }
    case 'route-error':
      return postponeAttempt(claimed, plusMs(now, routeWaitMs), replyLine(outcome.reply))
    default:
      return outcome satisfies never
  }
}

/** Waits until `dueAt` without an attempt being counted; at most to the end of its time. */
export function postponeAttempt(
  claimed: ClaimedRecipient,
  dueAt: Instant,
  lastReply: string | null = claimed.lastReply,
): NextStep {
  const at = dueAt < claimed.expiresAt ? dueAt : claimed.expiresAt
  return { kind: 'retry', event: null, dueAt: at, attempts: claimed.attempts, lastReply }
}

/**
 * The event that tells an outcome, with the reply as its evidence; null where there is nothing to tell.
 *
 * | Outcome | Event |
 * |---|---|
 * | accepted | `sent`: the relay's server has it, which is not `delivered` |
 * | RCPT refused for good | `bounced`; what that means see bounce.ts |
 * | content refused for good, at or after DATA, or too large | `rejected` |
 * | deferred | `delayed` the first time, and whenever the message may have been taken (`ambiguous`) |
 * | route in trouble | none: it says nothing about this email |
 *
 * What was retaken from a process that died is `ambiguous` whatever came of it: it may have been submitted before.
 */
export function outcomeToEvent(
  claimed: ClaimedRecipient,
  outcome: SubmissionOutcome,
  now: Instant,
): DeliveryEvent | null {
  const { reply } = outcome
  const base = {
    emailId: claimed.emailId,
    recipient: claimed.recipient,
    occurredAt: now,
    source: 'smtp' as const,
    smtpCode: reply.code,
    enhancedCode: reply.enhancedCode,
    detail: reply.text,
  }
  const isAmbiguous = claimed.isReclaimed || (outcome.kind === 'deferred' && outcome.ambiguous)
  const extra = { phase: reply.phase, attempt: claimed.attempts + 1, ...(isAmbiguous && { ambiguous: true }) }
  switch (outcome.kind) {
    case 'accepted':
      return {
        ...base,
        type: 'sent',
        extra,
        providerMessageId: outcome.providerMessageId,
        wireMessageId: outcome.wireMessageId ?? null,
      }
    case 'failed':
      return reply.phase === 'rcpt'
        ? { ...base, type: 'bounced', extra, bounce: bounceOf(reply) }
        : { ...base, type: 'rejected', extra }
    case 'deferred':
      return claimed.attempts > 0 && !isAmbiguous ? null : { ...base, type: 'delayed', extra }
    case 'route-error':
      return null
    default:
      return outcome satisfies never
  }
}

/** What a refusal at RCPT means; whether it suppresses is decided where it is written. */
function bounceOf({ code, enhancedCode, text }: ProviderReply): Bounce {
  const { type, scope } = classifyBounce({ smtpCode: code, enhancedCode, text })
  return { type, scope, suppressed: false }
}

/** Another attempt after trouble of our own, told as a delay the first time. */
export function nextAfterError(
  claimed: ClaimedRecipient,
  trouble: unknown,
  now: Instant,
  policy: RetryPolicy,
): NextStep {
  const detail = trouble instanceof NoSigningKeyError ? trouble.message : 'Internal trouble; it is tried again.'
  const attempts = claimed.attempts + 1
  const event: DeliveryEvent = {
    emailId: claimed.emailId,
    recipient: claimed.recipient,
    type: 'delayed',
    occurredAt: now,
    source: 'api',
    detail,
    extra: { attempt: attempts },
  }
  const dueAt = nextAttemptAt(attempts, now, claimed.expiresAt, policy)
  return { kind: 'retry', event: attempts === 1 ? event : null, dueAt, attempts, lastReply: detail }
}

/** How long an email of a paused brand waits before it is looked at again. */
const pausedWaitMs = 2 * minuteMs

/** Waits until the brand sends again, which costs no attempt; told as a delay the first time. */
export function postponeForPause(claimed: ClaimedRecipient, now: Instant): NextStep {
  const event: DeliveryEvent = {
    emailId: claimed.emailId,
    recipient: claimed.recipient,
    type: 'delayed',
    occurredAt: now,
    source: 'api',
    detail: 'Sending of the brand is paused.',
    extra: { reason: 'brand_paused' },
  }
  return {
    ...postponeAttempt(claimed, plusMs(now, pausedWaitMs)),
    event: claimed.recipientStatus === 'delayed' ? null : event,
  }
}

/**
 * What ends an email before it is submitted, or keeps it from that; null: nothing does. Its time has run out (RFC 3463:
 * 4.4.7), the operator holds it until then (see hold.ts), or it was scheduled and at its release the domain is not ready or
 * the recipient is suppressed.
 */
export function endBeforeSubmission(claimed: ClaimedRecipient, isSuppressed: boolean, now: Instant): NextStep | null {
  if (!stillWaits.has(claimed.recipientStatus)) return { kind: 'end', event: null }
  const base = { emailId: claimed.emailId, recipient: claimed.recipient, occurredAt: now, source: 'api' as const }
  if (claimed.expiresAt <= now) {
    const held = claimed.heldAt === null ? '' : ` Held by the operator since ${toIso(claimed.heldAt)}.`
    const last = claimed.lastReply === null ? '' : ` Last reply: ${claimed.lastReply}`
    const detail = `Not sent by ${toIso(claimed.expiresAt)}.${held}${last}`
    return { kind: 'end', event: { ...base, type: 'failed', enhancedCode: '4.4.7', detail } }
  }
  if (claimed.heldAt !== null) return postponeAttempt(claimed, claimed.expiresAt)
  if (claimed.scheduledAt === null || claimed.attempts > 0) return null
  if (!claimed.isReady) {
    const detail = 'The domain was not ready to send when the email was due.'
    return { kind: 'end', event: { ...base, type: 'failed', detail, extra: { reason: 'domain_not_verified' } } }
  }
  if (isSuppressed) {
    const detail = 'The recipient was suppressed when the email was due.'
    return { kind: 'end', event: { ...base, type: 'suppressed', detail } }
  }
  return null
}

/** The statuses in which an email may still be submitted; a report may have ended it meanwhile. */
const stillWaits: ReadonlySet<ClaimedRecipient['recipientStatus']> = new Set([
  'scheduled',
  'queued',
  'sending',
  'delayed',
])

/** A reply on one line: `451 4.7.1 Try again later`. */
export function replyLine({ code, enhancedCode, text }: ProviderReply): string {
  return [code, enhancedCode, text].filter(part => part !== null && part !== '').join(' ')
}

/** The report of a refusal at RCPT, which may suppress the recipient; null: the event is no bounce. */
export function bounceReport(event: DeliveryEvent): DeliveryReport | null {
  const { type, recipient, smtpCode = null, enhancedCode = null, detail = null } = event
  if (type !== 'bounced' || recipient === null) return null
  return { event: { ...event, recipient }, bounce: classifyBounce({ smtpCode, enhancedCode, text: detail }) }
}
