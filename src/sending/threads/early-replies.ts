import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import {
  findEmailThread,
  findThreadEmails,
  findThreadMessages,
  moveToThread,
  setAnswered,
  type ThreadMessage,
  type ThreadOwner,
} from './early-replies-table.ts'
import { moveReferences } from './table.ts'
import { referenceOf } from './threads.ts'

/** An email of which it was just learned under what Message-ID its recipients have it. */
export interface LearnedEmail extends ThreadOwner {
  readonly emailId: Id<'eml'>
  /** Without angle brackets. */
  readonly wireMessageId: string
  /** The thread in which that Message-ID was seen before, or the email's own. */
  readonly seenIn: string
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
export async function linkEarlyReplies(db: Db, learned: LearnedEmail): Promise<readonly EarlyReply[]> {
  const { emailId, wireMessageId, seenIn } = learned
  const [own, messages] = await Promise.all([
    findEmailThread(db, learned, emailId),
    findThreadMessages(db, learned, seenIn, maxMessages),
  ])
  const beginning = messages.find(each => each.id === seenIn)
  const isEarly = seenIn !== own.threadId && beginning !== undefined && beginning.receivedAt >= own.acceptedAt
  if (isEarly) await moveThread(db, learned, messages, { since: beginning.receivedAt, to: own.threadId })
  const replies = messages.filter(
    each =>
      each.isReply === 1 &&
      (each.inReplyTo === wireMessageId
        ? each.answersEmailId !== emailId
        : isEarly && each.inReplyTo !== null && each.answersEmailId === null),
  )
  await setAnswered(
    db,
    learned,
    replies.map(each => each.id),
    emailId,
  )
  return replies.map(each => ({ messageId: each.id, receivedAt: each.receivedAt }))
}

/** Makes two threads one, by the Message-IDs of what is in the later one. */
async function moveThread(
  db: Db,
  learned: LearnedEmail,
  messages: readonly ThreadMessage[],
  { since, to }: { readonly since: Instant; readonly to: string },
): Promise<void> {
  const { brandId, wireMessageId, seenIn } = learned
  const emails = await findThreadEmails(db, learned, seenIn, { since, most: maxEmailsLookedAt })
  const known = [
    wireMessageId,
    ...messages.flatMap(each => [each.messageId, each.inReplyTo]),
    ...emails.flatMap(each => [each.messageId, each.wireMessageId]),
  ]
  const references = known.flatMap(each => (each === null ? [] : referenceOf(each)))
  await moveReferences(db, brandId, references, { from: seenIn, to })
  const moved = { messages: messages.map(each => each.id), emails: emails.map(each => each.id) }
  await moveToThread(db, learned, moved, to)
}
