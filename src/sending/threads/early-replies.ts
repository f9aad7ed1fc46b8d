import type { BrandTenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import {
  selectEmailThread,
  selectThreadEmails,
  selectThreadMessages,
  type ThreadMessage,
  updateInReplyTo,
  updateThread,
} from './early-replies-table.ts'
import { updateReferenceThreads } from './table.ts'
import { referenceOf } from './threads.ts'

/** An email whose Message-ID at its recipients just became known. */
export interface EmailWithWireId extends BrandTenant {
  readonly emailId: Id<'eml'>
  /** Without angle brackets. */
  readonly wireMessageId: string
  /** The thread in which that Message-ID was seen before, or the email's own. */
  readonly seenThreadId: string
}

/** A message that replies to the email. */
export interface EarlyReply {
  readonly messageId: Id<'msg'>
  readonly receivedAt: Instant
}

/** At most so many early replies are joined: they came in the moments between the delivery and the provider's event. */
const maxMessages = 100
const maxEmailsScanned = 5000

/**
 * Links the replies that came before the email's Message-ID at its recipients was known: they began a thread of their own,
 * which is merged into the email's. Gives the messages that were not known as replies before. A thread that is older than
 * the email is not merged. Runs in the caller's transaction, in which the email is locked.
 */
export async function linkEarlyReplies(db: Db, email: EmailWithWireId): Promise<readonly EarlyReply[]> {
  const { emailId, wireMessageId, seenThreadId } = email
  const [own, messages] = await Promise.all([
    selectEmailThread(db, email, emailId),
    selectThreadMessages(db, email, seenThreadId, maxMessages),
  ])
  const beginning = messages.find(message => message.id === seenThreadId)
  const isEarly = seenThreadId !== own.threadId && beginning !== undefined && beginning.receivedAt >= own.acceptedAt
  if (isEarly) await mergeThread(db, email, messages, { since: beginning.receivedAt, to: own.threadId })
  const replies = messages.filter(
    message =>
      message.isReply === 1 &&
      (message.inReplyTo === wireMessageId
        ? message.inReplyToEmailId !== emailId
        : isEarly && message.inReplyTo !== null && message.inReplyToEmailId === null),
  )
  await updateInReplyTo(
    db,
    email,
    replies.map(reply => reply.id),
    emailId,
  )
  return replies.map(reply => ({ messageId: reply.id, receivedAt: reply.receivedAt }))
}

/** Merges a thread into another, with the Message-IDs of all its messages and emails. */
async function mergeThread(
  db: Db,
  email: EmailWithWireId,
  messages: readonly ThreadMessage[],
  { since, to }: { readonly since: Instant; readonly to: string },
): Promise<void> {
  const { brandId, wireMessageId, seenThreadId } = email
  const emails = await selectThreadEmails(db, email, seenThreadId, { since, limit: maxEmailsScanned })
  const messageIds = [
    wireMessageId,
    ...messages.flatMap(message => [message.messageId, message.inReplyTo]),
    ...emails.flatMap(email => [email.messageId, email.wireMessageId]),
  ]
  const references = messageIds.flatMap(messageId => (messageId === null ? [] : referenceOf(messageId)))
  await updateReferenceThreads(db, brandId, references, { from: seenThreadId, to })
  const moved = { messages: messages.map(message => message.id), emails: emails.map(email => email.id) }
  await updateThread(db, email, moved, to)
}
