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

/** An email of which it was just learned under what Message-ID its recipients have it. */
export interface EmailWithWireId extends BrandTenant {
  readonly emailId: Id<'eml'>
  /** Without angle brackets. */
  readonly wireMessageId: string
  /** The thread in which that Message-ID was seen before, or the email's own. */
  readonly seenThreadId: string
}

/** A message that answers the email. */
export interface EarlyReply {
  readonly messageId: Id<'msg'>
  readonly receivedAt: Instant
}

/** So many of what came before are joined: it came in the moments between the delivery and the news of it. */
const maxMessages = 100
const maxEmailsLookedAt = 5000

/**
 * Joins what came in answer to an email before anyone knew that Message-ID: it began a thread of its own, which becomes the
 * email's, and answers the email from now on. Gives the answers that were none before. A thread that is older than the
 * email stays one by itself. In the caller's transaction, which holds the email.
 */
export async function linkEarlyReplies(db: Db, learned: EmailWithWireId): Promise<readonly EarlyReply[]> {
  const { emailId, wireMessageId, seenThreadId } = learned
  const [own, messages] = await Promise.all([
    selectEmailThread(db, learned, emailId),
    selectThreadMessages(db, learned, seenThreadId, maxMessages),
  ])
  const beginning = messages.find(message => message.id === seenThreadId)
  const isEarly = seenThreadId !== own.threadId && beginning !== undefined && beginning.receivedAt >= own.acceptedAt
  if (isEarly) await moveThread(db, learned, messages, { since: beginning.receivedAt, to: own.threadId })
  const replies = messages.filter(
    message =>
      message.isReply === 1 &&
      (message.inReplyTo === wireMessageId
        ? message.inReplyToEmailId !== emailId
        : isEarly && message.inReplyTo !== null && message.inReplyToEmailId === null),
  )
  await updateInReplyTo(
    db,
    learned,
    replies.map(reply => reply.id),
    emailId,
  )
  return replies.map(reply => ({ messageId: reply.id, receivedAt: reply.receivedAt }))
}

/** Makes two threads one, by the Message-IDs of what is in the later one. */
async function moveThread(
  db: Db,
  learned: EmailWithWireId,
  messages: readonly ThreadMessage[],
  { since, to }: { readonly since: Instant; readonly to: string },
): Promise<void> {
  const { brandId, wireMessageId, seenThreadId } = learned
  const emails = await selectThreadEmails(db, learned, seenThreadId, { since, most: maxEmailsLookedAt })
  const known = [
    wireMessageId,
    ...messages.flatMap(message => [message.messageId, message.inReplyTo]),
    ...emails.flatMap(email => [email.messageId, email.wireMessageId]),
  ]
  const references = known.flatMap(each => (each === null ? [] : referenceOf(each)))
  await updateReferenceThreads(db, brandId, references, { from: seenThreadId, to })
  const moved = { messages: messages.map(message => message.id), emails: emails.map(email => email.id) }
  await updateThread(db, learned, moved, to)
}
