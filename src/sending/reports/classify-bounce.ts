import { findEnhancedStatus, findReplyCode } from '../../mail/reports/enhanced-status.ts'
import type { Bounce } from '../events/delivery-event.ts'
import {
  aboutSender,
  closedMailbox,
  fullMailbox,
  notNow,
  outOfTime,
  takesNoMail,
  unknownDomain,
  unknownOrFull,
  unknownRecipient,
} from './bounce-reasons.ts'
import { maskAddresses, maskNames } from './masked-text.ts'
import { findSenderReason, findTranscriptReplies, type Notice } from './sender-reason.ts'

/** The evidence of a permanent or transient failure: the SMTP reply, or the one that a report quotes. */
export interface BounceEvidence {
  /** RFC 3463; null: none was given. */
  readonly enhancedCode: string | null
  readonly smtpCode: number | null
  readonly text: string | null
  /** What a report says besides. */
  readonly notice?: Notice
}

/** What a bounce means, and whether it suppresses the recipient. */
export interface BounceClass extends Omit<Bounce, 'suppressed'> {
  /** `when repeated`: only with another such bounce at least 24 hours before. */
  readonly suppress: 'at once' | 'when repeated' | 'never'
}

const noSuchRecipient: BounceClass = { type: 'permanent', scope: 'recipient', suppress: 'at once' }
const disabledMailbox: BounceClass = { type: 'permanent', scope: 'recipient', suppress: 'when repeated' }
const mailboxFull: BounceClass = { type: 'transient', scope: 'recipient', suppress: 'never' }
const senderProblem: BounceClass = { type: 'permanent', scope: 'infrastructure', suppress: 'never' }
const temporaryProblem: BounceClass = { type: 'transient', scope: 'infrastructure', suppress: 'never' }
const undetermined: BounceClass = { type: 'undetermined', scope: 'recipient', suppress: 'never' }
const noMailByItsWord: BounceClass = { type: 'undetermined', scope: 'recipient', suppress: 'when repeated' }

/**
 * What a bounce means: by the enhanced status code, then by known phrases of the text, then by the SMTP code. Failures of
 * the sender address, the route, the content or a policy (5.1.7, 5.1.8, 5.3.x to 5.7.x) never suppress the recipient, nor do
 * transient ones, nor a code whose text is about the sender, nor one that stands in a report below a reason of the sender.
 * Words inside addresses and host names do not count. RFC 3463 §3, RFC 5248.
 */
export function classifyBounce(refused: BounceEvidence): BounceClass {
  return findOverruling(refused)?.bounce ?? classOfRefusal(refused)
}

/** What the rest of a report says against a refusal that would suppress the recipient. */
export interface Overruling {
  readonly bounce: BounceClass
  /** The line that says it. */
  readonly reason: string
}

/** Null: nothing does, or the refusal suppresses nobody. */
export function findOverruling(refused: BounceEvidence): Overruling | null {
  const { notice } = refused
  if (!notice || classOfRefusal(refused).suppress === 'never') return null
  const reason = findSenderReason(notice)
  if (reason !== null) return { bounce: senderProblem, reason }
  const replies = findTranscriptReplies(notice.text).map(text => {
    const smtpCode = findReplyCode(text)
    return { reason: text, bounce: classOfRefusal({ enhancedCode: findEnhancedStatus(text), smtpCode, text }) }
  })
  return replies.every(reply => reply.bounce.suppress === 'never') ? (replies[0] ?? null) : null
}

function classOfRefusal({ enhancedCode, smtpCode, text }: BounceEvidence): BounceClass {
  const words = maskAddresses(text ?? '')
  const byCode = enhancedCode === null ? undefined : classOfCode(enhancedCode, words)
  if (byCode) return byCode
  if (smtpCode !== null && smtpCode < 500) return temporaryProblem
  return classOfText(words) ?? (smtpCode === null ? undetermined : classOfReply(smtpCode))
}

/** Undefined: the code does not decide, the text does. */
function classOfCode(code: string, text: string): BounceClass | undefined {
  if (code === '4.0.0' && takesNoMail.test(text)) return noMailByItsWord
  if (code.startsWith('4')) return /^4\.[12]\./.test(code) ? mailboxFull : temporaryProblem
  if (!code.startsWith('5')) return undefined
  switch (code) {
    // No such mailbox, no such system, bad syntax, moved without a forwarding address, null MX (RFC 7505).
    case '5.1.1':
    case '5.1.2':
    case '5.1.3':
    case '5.1.6':
    case '5.1.10':
      return exonerate(text) ?? noSuchRecipient
    // Disabled; used by Microsoft 365 for an unknown recipient, and for a domain that has moved.
    case '5.2.1':
    case '5.4.1':
      return exonerate(text) ?? disabledMailbox
    case '5.2.2':
      return mailboxFull
    case '5.1.7':
    case '5.1.8':
    case '5.2.3':
      return senderProblem
    case '5.4.7':
    case '5.4.300':
      return temporaryProblem
    // Used by Postfix and qmail for a domain that does not exist, and for much else.
    case '5.4.4':
      return (unknownDomain.test(text) || /invalid domain/i.test(text)) && !notNow.test(text)
        ? noSuchRecipient
        : senderProblem
  }
  // For other address and mailbox codes, and undefined ones, the text decides; so it does for Outlook.com's 5.5.0.
  return /^5\.(?:[0-2]\.\d+|[35]\.0)$/.test(code) ? undefined : senderProblem
}

/** A text that exonerates the recipient, whatever the code before it. */
function exonerate(text: string): BounceClass | undefined {
  if (unknownOrFull.test(text)) return undetermined
  if (fullMailbox.test(text)) return mailboxFull
  return aboutSender.test(text) ? senderProblem : undefined
}

function classOfText(text: string): BounceClass | undefined {
  if (unknownOrFull.test(text)) return undetermined
  if (fullMailbox.test(text)) return mailboxFull
  if (aboutSender.test(text)) return senderProblem
  if (notNow.test(text)) return temporaryProblem
  const words = maskNames(text)
  if (unknownRecipient.test(words) || unknownDomain.test(words)) return noSuchRecipient
  if (closedMailbox.test(words)) return disabledMailbox
  if (outOfTime.test(words)) return temporaryProblem
  return undefined
}

/** RFC 5321 §4.2.3: what the bare code of a refusal is about. */
function classOfReply(code: number): BounceClass {
  return code === 550 || code === 551 || code === 553 ? undetermined : senderProblem
}
