import { dayMs, hourMs, type Instant, minuteMs, plusMs, toIso } from '../../base/clock.ts'
import { splitAddress } from '../../mail/address.ts'
import type { ProviderReply, SubmissionOutcome } from '../../ports/provider/port.ts'
import type { Bounce, DeliveryEvent } from '../events/delivery-event.ts'
import { isUnsent } from '../events/status.ts'
import { classifyBounce } from '../reports/classify-bounce.ts'
import type { DeliveryReport } from '../reports/reports.ts'
import type { ClaimedRecipient } from './outbox.ts'
import { nextAttemptAt, type RetryPolicy } from './retry.ts'

/** The domain has no key: what it sends would arrive unsigned. */
export class NoSigningKeyError extends Error {
  override readonly name = 'NoSigningKeyError'
}

/** What follows for a claimed recipient. */
export type NextStep =
  /** It is not submitted again. `event` null: nothing is recorded. */
  | { readonly kind: 'end'; readonly event: DeliveryEvent | null }
  /** It waits for another attempt. `event` null: nothing is recorded, as its delay is known already. */
  | {
      readonly kind: 'retry'
      readonly event: DeliveryEvent | null
      readonly dueAt: Instant
      readonly attempts: number
      readonly lastReply: string | null
      /** May the provider have taken it, at this attempt or before? */
      readonly isAmbiguous: boolean
      /** When it is due instead, should the operator, who holds it, have released it meanwhile; absent: nobody holds it. */
      readonly dueIfReleased?: Instant
    }

/** How long an email waits after a route error, unless the circuit breaker makes it wait longer. */
const routeErrorWaitMs = 1000

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
      const isAmbiguous = claimed.isAmbiguous || outcome.ambiguous
      return { kind: 'retry', event, dueAt, attempts, lastReply: replyLine(outcome.reply), isAmbiguous }
    }
    case 'route-error':
      return postponeAttempt(claimed, plusMs(now, routeErrorWaitMs), replyLine(outcome.reply))
    case 'withdrawn':
      return postponeAttempt(claimed, now)
    default:
      return outcome satisfies never
  }
}

/** Waits until `dueAt`, at most until it expires, without an attempt being counted. */
export function postponeAttempt(
  claimed: ClaimedRecipient,
  dueAt: Instant,
  lastReply: string | null = claimed.lastReply,
): Extract<NextStep, { kind: 'retry' }> {
  const at = dueAt < claimed.expiresAt ? dueAt : claimed.expiresAt
  const { attempts, isAmbiguous } = claimed
  return { kind: 'retry', event: null, dueAt: at, attempts, lastReply, isAmbiguous }
}

/**
 * The event of an outcome, with the reply as its evidence; null: nothing is recorded.
 *
 * | Outcome | Event |
 * |---|---|
 * | accepted | `sent`: the provider's server accepted it, which is not `delivered` |
 * | permanent failure at RCPT | `bounced`; reports/classify-bounce.ts says what it means |
 * | permanent failure of the content, at or after DATA, or too large | `rejected` |
 * | deferred | `delayed` the first time, and whenever the message may have been accepted (`ambiguous`) |
 * | route error, withdrawn | none: it says nothing about this email |
 *
 * Once the provider may have taken the message without our knowing, by a lost connection or the death of a process, each
 * later event is `ambiguous` too: it may be about a copy.
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
  const isNewlyAmbiguous = claimed.isReclaimed || (outcome.kind === 'deferred' && outcome.ambiguous)
  const isAmbiguous = claimed.isAmbiguous || isNewlyAmbiguous
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
      return claimed.attempts > 0 && !isNewlyAmbiguous ? null : { ...base, type: 'delayed', extra }
    case 'route-error':
    case 'withdrawn':
      return null
    default:
      return outcome satisfies never
  }
}

/** What a permanent failure at RCPT means; whether it suppresses is decided when it is recorded (reports/reports.ts). */
function bounceOf({ code, enhancedCode, text }: ProviderReply): Bounce {
  const { type, scope } = classifyBounce({ smtpCode: code, enhancedCode, text })
  return { type, scope, suppressed: false }
}

/** Another attempt after an error of our own, recorded as a delay the first time. */
export function nextAfterError(claimed: ClaimedRecipient, error: unknown, now: Instant, policy: RetryPolicy): NextStep {
  const detail = error instanceof NoSigningKeyError ? error.message : 'Internal error; it is tried again.'
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
  const { isAmbiguous } = claimed
  return { kind: 'retry', event: attempts === 1 ? event : null, dueAt, attempts, lastReply: detail, isAmbiguous }
}

/** How long an email of a paused brand waits until the pause is checked again. */
const pausedWaitMs = 2 * minuteMs

/** Waits while the brand is paused, without an attempt being counted; recorded as a delay the first time. */
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

/** How long an email waits until it is looked at again whether its domain is ready to send. */
const readinessWaitMs = minuteMs
/** How long an email waits for its domain, unless it expires before. */
const maxReadinessWaitMs = dayMs

/**
 * Waits while the domain is not ready to send, without an attempt being counted; recorded as a delay the first time. That it
 * waits, and since when, is kept in the recipient's status; an attempt in between has changed the last reply.
 */
function waitForReadiness(claimed: ClaimedRecipient, now: Instant): NextStep {
  const { emailId, recipient, recipientStatus, statusDetail, statusSince, lastReply } = claimed
  const { domain } = splitAddress(claimed.fromAddress)
  const detail = `The domain ${domain} is not ready to send. The email waits until it is.`
  const isWaiting = recipientStatus === 'delayed' && statusDetail === detail && lastReply === detail
  const endsAt = plusMs(isWaiting ? statusSince : now, maxReadinessWaitMs)
  const event = {
    emailId,
    recipient,
    occurredAt: now,
    source: 'api',
    extra: { reason: 'domain_not_verified' },
  } as const
  if (endsAt <= now) {
    const detail = `The domain ${domain} was not ready to send for ${maxReadinessWaitMs / hourMs} hours.`
    return { kind: 'end', event: { ...event, type: 'failed', detail } }
  }
  const step = postponeAttempt(claimed, plusMs(now, readinessWaitMs), detail)
  return isWaiting ? step : { ...step, event: { ...event, type: 'delayed', detail } }
}

/**
 * What ends a recipient before it is submitted, or postpones it; null: nothing does. The provider has it already, from a
 * process that died before it recorded that; its time has run out (RFC 3463: 4.4.7), the operator holds it until then (see
 * queue/operator-queue.ts), it was scheduled and the recipient is suppressed at its release, or the domain is not ready.
 */
export function endBeforeSubmission(claimed: ClaimedRecipient, isSuppressed: boolean, now: Instant): NextStep | null {
  const { acceptance } = claimed
  if (acceptance) return { kind: 'end', event: outcomeToEvent(claimed, acceptance.outcome, acceptance.at) }
  // A report may have ended it meanwhile.
  if (!isUnsent(claimed.recipientStatus)) return { kind: 'end', event: null }
  const base = { emailId: claimed.emailId, recipient: claimed.recipient, occurredAt: now, source: 'api' as const }
  if (claimed.expiresAt <= now) {
    const held = claimed.heldAt === null ? '' : ` Held by the operator since ${toIso(claimed.heldAt)}.`
    const last = claimed.lastReply === null ? '' : ` Last reply: ${claimed.lastReply}`
    const detail = `Not sent by ${toIso(claimed.expiresAt)}.${held}${last}`
    const extra = claimed.isAmbiguous ? { ambiguous: true } : {}
    return { kind: 'end', event: { ...base, type: 'failed', enhancedCode: '4.4.7', detail, extra } }
  }
  if (claimed.heldAt !== null) return { ...postponeAttempt(claimed, claimed.expiresAt), dueIfReleased: now }
  if (isSuppressed && claimed.scheduledAt !== null && claimed.attempts === 0) {
    const detail = 'The recipient was suppressed when the email was due.'
    return { kind: 'end', event: { ...base, type: 'suppressed', detail } }
  }
  return claimed.isReady ? null : waitForReadiness(claimed, now)
}

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
