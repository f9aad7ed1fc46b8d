import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { linkEarlyReplies } from '../threads/early-replies.ts'
import { joinThreads } from '../threads/threads.ts'
import type { DeliveryEvent } from './delivery-event.ts'
import { type EmailDeliveryState, updateWireMessageId } from './table.ts'

/** The Message-ID that recipients see, given by an event for the first time. */
interface WireIdUpdate {
  /** Without angle brackets. */
  readonly wireMessageId: string
  /** It became known after the provider had the email, so that somebody may have replied already. */
  readonly isLate: boolean
}

/**
 * Records the Message-IDs that recipients see of emails, where the provider replaces ours, so that replies find their
 * thread. Gives the events of the replies that came before they were known.
 */
export async function recordWireMessageIds(
  db: Db,
  events: readonly DeliveryEvent[],
  emails: ReadonlyMap<Id<'eml'>, EmailDeliveryState>,
): Promise<readonly DeliveryEvent[]> {
  const updates = new Map<EmailDeliveryState, WireIdUpdate>()
  for (const { emailId, wireMessageId, source } of events) {
    const email = emails.get(emailId)
    if (!email || !wireMessageId || email.wireMessageId !== null || wireMessageId === email.messageId) continue
    if (!updates.has(email)) updates.set(email, { wireMessageId, isLate: source !== 'smtp' })
  }
  const replies: DeliveryEvent[] = []
  for (const [email, update] of updates) replies.push(...(await recordWireMessageId(db, email, update)))
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
  const identified = { organizationId, brandId, emailId, wireMessageId, seenThreadId: joined.threadId }
  const early = await linkEarlyReplies(db, identified)
  return early.map(reply => ({
    emailId,
    recipient: null,
    type: 'replied',
    occurredAt: reply.receivedAt,
    source: 'inbound',
    extra: { message_id: reply.messageId },
  }))
}
