import { refuse } from '../../base/refusal.ts'
import { formatAddress } from '../../mail/address.ts'
import type { MessageFacts } from '../../mail/message.ts'
import type { Accepted } from '../../sending/accept/accepted.ts'
import type { SendEmail } from '../../sending/emails/schema.ts'
import { isHarmless, scanThatCounts } from '../messages/download.ts'
import { ownMessage } from '../messages/messages.ts'
import { outlineStored } from '../messages/stored-message.ts'
import type { MessageRow } from '../messages/table.ts'
import { isAutomaticReply, refusesAutomaticReplies, refuseThreadHeaders, replyHeaders } from './headers.ts'
import { ownAddresses } from './own-addresses.ts'
import { originalOf, withOriginal } from './quoted-message.ts'
import { correspondentsOf, type ReplyRecipients, replyAllRecipients, replyRecipients } from './recipients.ts'
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
import type { Reply } from './schema.ts'
import { replySubject } from './subject.ts'

/** Who is answered: whoever asked for it, or all who got the message with us. */
export type Whom = 'author' | 'all'

/**
 * Answers a message, in its thread; it marks nothing as read. What is infected or could not be scanned is not quoted.
 * @throws Refusal not_found, brand_restricted, from_not_allowed, no_content, no_reply_address, and those of a send
 */
export async function replyToMessage(use: AnswerUse, asked: Asked, reply: Reply, whom: Whom): Promise<Accepted> {
  const message = await ownMessage(use.db, asked.caller, asked.id)
  const from = await senderOf(use, message, reply.from)
  const body = bodyOf(reply)
  if (body.text === null && body.html === null)
    throw refuse('no_content', { message: 'text: a reply needs text or html.', param: 'text' })
  refuseThreadHeaders(reply.headers)
  const facts = await outlineStored(use, message)
  refuseUnanswerable(message, facts, reply)
  const { to, cc } = await recipientsOf(use, message, facts, { whom, from })
  if (to.length === 0) throw noReplyAddress(`The message ${message.id} names nobody who could be answered.`)
  const { quote, ...fields } = reply
  return await sendIntoThread(use, asked, message, {
    ...fields,
    ...formsOf(
      quote !== false && isHarmless(scanThatCounts(message)) ? await quoting(use, message, facts, reply) : body,
    ),
    from,
    to: to.map(formatAddress),
    ...(cc.length > 0 ? { cc: [...[reply.cc ?? []].flat(), ...cc.map(formatAddress)] } : {}),
    subject: reply.subject ?? replySubject(facts.subject),
    headers: { ...reply.headers, ...replyHeaders(threadedBy(message, facts)) },
  })
}

async function quoting(
  use: AnswerUse,
  message: MessageRow,
  facts: MessageFacts,
  reply: Pick<SendEmail, 'text' | 'html' | 'attachments'>,
): Promise<Body> {
  const original = await originalOf(use.texts, message, facts, reply.attachments)
  return await withOriginal(use.texts, 'reply', await withText(bodyOf(reply), use.texts), original)
}

async function recipientsOf(
  use: AnswerUse,
  { organization_id, brand_id, rcpt_to }: MessageRow,
  facts: MessageFacts,
  { whom, from }: { readonly whom: Whom; readonly from: string },
): Promise<ReplyRecipients> {
  if (whom === 'author') return replyRecipients(facts)
  const brand = { organizationId: organization_id, brandId: brand_id }
  const own = await ownAddresses(use.db, brand, correspondentsOf(facts))
  const ourselves = new Set([rcpt_to, from].map(each => each.toLowerCase()))
  return replyAllRecipients(facts, address => own.has(address) || ourselves.has(address.toLowerCase()))
}

/** A report of delivery has no author (RFC 5321 §4.5.5), and machines do not answer each other (RFC 3834 §2). */
function refuseUnanswerable({ id, mail_from }: MessageRow, facts: MessageFacts, { headers }: Reply): void {
  if (mail_from === '')
    throw noReplyAddress(`The message ${id} has an empty reverse-path: nobody wants an answer to it.`)
  if (isAutomaticReply(headers) && refusesAutomaticReplies(facts.headers))
    throw noReplyAddress(`The message ${id} was sent automatically or to a list; it takes no automatic reply.`)
}

function noReplyAddress(message: string) {
  return refuse('no_reply_address', { message })
}
