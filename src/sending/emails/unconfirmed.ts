import { dayMs, hourMs, type Instant, millisecondsOf } from '../../base/clock.ts'
import type { EmailRecipientRow } from '../events/table.ts'

/** When a `sent` recipient without a report is shown as unconfirmed. */
export interface UnconfirmedPolicy {
  readonly now: Instant
  /** After how long without a report, in milliseconds. */
  readonly afterMs: number
}

export const defaultUnconfirmedMs = dayMs

/**
 * The `detail` of a recipient. Says so when the provider's server accepted the email long ago and no report came since:
 * `sent` is neither delivered nor lost.
 */
export function recipientDetail(
  { status, updated_at, detail }: Pick<EmailRecipientRow, 'status' | 'updated_at' | 'detail'>,
  policy: UnconfirmedPolicy | null,
): string | null {
  if (status !== 'sent' || policy === null) return detail
  const silentMs = millisecondsOf(policy.now) - millisecondsOf(updated_at)
  if (silentMs < policy.afterMs) return detail
  const hours = Math.floor(silentMs / hourMs)
  const reply = detail === null ? '' : ` Its reply: ${detail}`
  return `Unconfirmed: the provider accepted it, and no report of its delivery came for ${hours} ${hours === 1 ? 'hour' : 'hours'}.${reply}`
}
