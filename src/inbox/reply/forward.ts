import type { Accepted } from '../../sending/accept/accepted.ts'
import { maxBodyBytes } from '../../sending/accept/parse-request.ts'
import { refuseUnlessClean, scanThatCounts } from '../messages/download.ts'
import { ownMessage } from '../messages/messages.ts'
import { outlineStored } from '../messages/stored-message.ts'
import { forwardHeaders } from './headers.ts'
import { htmlOfText } from './quotation.ts'
import { type Original, originalOf, withOriginal } from './quoted-message.ts'
import {
  type AnswerUse,
  type Asked,
  type Body,
  bodyOf,
  formsOf,
  senderOf,
  sendIntoThread,
  threadedBy,
  withText,
} from './reply-sender.ts'
import type { Forward } from './schema.ts'
import { forwardSubject } from './subject.ts'

/**
 * Sends a message on to others, below what is said of it, in the message's thread; it marks nothing as read. The message's
 * attachments go along only where they are given.
 * @throws Refusal not_found, brand_restricted, from_not_allowed, attachment_infected, attachment_unscanned, and those of a
 * send
 */
export async function forwardMessage(use: AnswerUse, asked: Asked, forward: Forward): Promise<Accepted> {
  const message = await ownMessage(use.db, asked.caller, asked.id)
  const from = await senderOf(use, message, forward.from)
  refuseUnlessClean(scanThatCounts(message))
  const facts = await outlineStored(use, message)
  const original = await originalOf(use.texts, message, facts, forward.attachments)
  const said = inForms(await withText(bodyOf(forward), use.texts), original)
  return await sendIntoThread(use, asked, message, {
    ...forward,
    ...formsOf(await withOriginal(use.texts, 'forward', said, original)),
    from,
    subject: forwardSubject(facts.subject),
    headers: forwardHeaders(threadedBy(message, facts)),
  })
}

/** What is said of it, in each form that the message has; a text that would be too long as HTML stays text. */
function inForms({ text, html }: Body, original: Original): Body {
  if (html !== null || original.html === null) return { text: text ?? '', html }
  const made = text === null ? '' : htmlOfText(text)
  return { text: text ?? '', html: Buffer.byteLength(made) < maxBodyBytes / 2 ? made : null }
}
