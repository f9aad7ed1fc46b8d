import { dayMs, hourMs, type Instant, millisecondsOf } from '../../base/clock.ts'
import type { EmailRecipientRow } from '../events/table.ts'

/** From when on silence is shown as what it is. */
export interface UnconfirmedPolicy {
  readonly now: Instant
  /** How long nothing was heard, in milliseconds. */
  readonly afterMs: number
}

export const defaultUnconfirmedMs = dayMs

/**
 * What is known of a recipient, in words. Of one that the relay took long ago, without a word since, it says that: `sent` is
 * neither delivered nor lost.
 */
export function recipientDetail(
  { status, updated_at, detail }: Pick<EmailRecipientRow, 'status' | 'updated_at' | 'detail'>,
  silence: UnconfirmedPolicy | null,
): string | null {
  if (status !== 'sent' || silence === null) return detail
  const silentMs = millisecondsOf(silence.now) - millisecondsOf(updated_at)
  if (silentMs < silence.afterMs) return detail
  const hours = Math.floor(silentMs / hourMs)
  const said = detail === null ? '' : ` The relay said: ${detail}`
  return `Unconfirmed: the relay took it, and for ${hours} ${hours === 1 ? 'hour' : 'hours'} there was no word of its delivery.${said}`
}
