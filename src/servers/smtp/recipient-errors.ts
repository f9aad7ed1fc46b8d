import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'
import { isUnknownRecipient } from './envelope.ts'
import type { SessionLimits } from './session-limits.ts'

/** What the refusal of a recipient leads to, besides its reply. */
export interface RecipientErrorEffect {
  /** Why the session has to be closed; undefined: it has not. */
  readonly reasonToClose: SmtpRefusalCode | undefined
  /** The delay of the reply in milliseconds: longer with each unknown recipient, which slows down address harvesting. */
  readonly delayMs: number
}

/** Counts the refused recipients of one session. */
export class RecipientErrors {
  private surplus = 0
  private unknown = 0
  private readonly limits: SessionLimits

  constructor(limits: SessionLimits) {
    this.limits = limits
  }

  count(code: SmtpRefusalCode): RecipientErrorEffect {
    const { maxUnknown, maxSurplusRecipients, promptUnknown, unknownDelayMs, maxUnknownDelayMs } = this.limits
    if (isUnknownRecipient(code)) {
      const steps = Math.max(0, ++this.unknown - promptUnknown)
      return {
        reasonToClose: this.unknown > maxUnknown ? 'too_many_unknown' : undefined,
        delayMs: Math.min(maxUnknownDelayMs, steps * unknownDelayMs),
      }
    }
    const isTooMany = code === 'too_many_recipients' && ++this.surplus > maxSurplusRecipients
    return { reasonToClose: isTooMany ? 'too_many_errors' : undefined, delayMs: 0 }
  }
}
