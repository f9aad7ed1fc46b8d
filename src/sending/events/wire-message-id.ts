import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { linkEarlyReplies } from '../threads/early-replies.ts'
import { joinThreads } from '../threads/threads.ts'
import type { DeliveryEvent } from './delivery-event.ts'
import { type EmailDeliveryState, updateWireMessageId } from './table.ts'

/** What an email is known by to its recipients, as far as events tell it for the first time. */
interface WireIdUpdate {
  /** Without angle brackets. */
  readonly wireMessageId: string
  /** It was learned after the provider had the email, so that somebody may have answered it already. */
  readonly isLate: boolean
}

/**
 * Notes under what Message-ID emails are known to their recipients, so that answers to it find their thread. Gives the
 * events of the answers that came before that was known.
 */
export async function recordWireMessageIds(
  db: Db,
  events: readonly DeliveryEvent[],
  emails: ReadonlyMap<Id<'eml'>, EmailDeliveryState>,
): Promise<readonly DeliveryEvent[]> {
  const told = new Map<EmailDeliveryState, WireIdUpdate>()
  for (const { emailId, wireMessageId, source } of events) {
    const email = emails.get(emailId)
    if (!email || !wireMessageId || email.wireMessageId !== null || wireMessageId === email.messageId) continue
    if (!told.has(email)) told.set(email, { wireMessageId, isLate: source !== 'smtp' })
  }
  const replies: DeliveryEvent[] = []
  for (const [email, what] of told) replies.push(...(await recordWireMessageId(db, email, what)))
  return replies
}

async function recordWireMessageId(
  db: Db,
  email: EmailDeliveryState,
  { wireMessageId, isLate }: WireIdUpdate,
): Promise<DeliveryEvent[]> {
  const { id: emailId, organizationId, brandId, messageId } = email
  await updateWireMessageId(db, emailId, wireMessageId)
  const entry = { brandId, itemId: emailId, messageId: wireMessageId, references: [messageId], emailId }
  const [joined] = await joinThreads(db, [entry])
  if (!isLate || !joined) return []
  const learned = { organizationId, brandId, emailId, wireMessageId, seenThreadId: joined.threadId }
  const early = await linkEarlyReplies(db, learned)
  return early.map(reply => ({
    emailId,
    recipient: null,
    type: 'replied',
    occurredAt: reply.receivedAt,
    source: 'inbound',
    extra: { message_id: reply.messageId },
  }))
}
