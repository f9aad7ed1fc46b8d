import { refuse } from '../../base/refusal.ts'
import { formatAddress } from '../../mail/address.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { AcceptedEmail } from '../../sending/accept/accepted-response.ts'
import type { SendEmail } from '../../sending/emails/schema.ts'
import { effectiveScan, isHarmless } from '../messages/download.ts'
import { requireMessage } from '../messages/messages.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import type { MessageDetailRow } from '../messages/table.ts'
import { isAutomaticReply, refusesAutomaticReplies, replyHeaders, requireNoThreadHeaders } from './headers.ts'
import { findOwnAddresses } from './own-addresses.ts'
import { appendQuotedMessage, prepareQuotedMessage } from './quoted-message.ts'
import { correspondentsOf, type ReplyRecipients, replyAllRecipients, replyRecipients } from './recipients.ts'
import {
  type BodyForms,
  bodyFields,
  bodyFormsOf,
  type ReplyDeps,
  type ReplyRequest,
  resolveSender,
  sendIntoThread,
  threadHeadersOf,
  threadSendRefusals,
  withText,
} from './reply-sender.ts'
import type { ReplyFields } from './schema.ts'
import { replySubject } from './subject.ts'

/** Who is answered: whoever asked for it, or all who got the message with us. */
export type ReplyAudience = 'author' | 'all'

/** The refusals of {@link replyToMessage}. */
export const replyRefusals = [...threadSendRefusals, 'no_content', 'no_reply_address'] as const

/**
 * Answers a message, in its thread; it marks nothing as read. What is infected or could not be scanned is not quoted.
 * @throws Refusal not_found, brand_restricted, from_not_allowed, no_content, no_reply_address, and those of a send
 */
export async function replyToMessage(
  deps: ReplyDeps,
  asked: ReplyRequest,
  reply: ReplyFields,
  whom: ReplyAudience,
): Promise<AcceptedEmail> {
  const message = await requireMessage(deps.db, asked.caller, asked.id)
  const from = await resolveSender(deps, message, reply.from)
  const body = bodyFormsOf(reply)
  if (body.text === null && body.html === null)
    throw refuse('no_content', { message: 'text: a reply needs text or html.', param: 'text' })
  requireNoThreadHeaders(reply.headers)
  const facts = await readStoredSummary(deps, message)
  refuseUnanswerable(message, facts, reply)
  const { to, cc } = await recipientsOf(deps, message, facts, { whom, from })
  if (to.length === 0) throw noReplyAddress(`The message ${message.id} names nobody who could be answered.`)
  const { quote, ...fields } = reply
  return await sendIntoThread(deps, asked, message, {
    ...fields,
    ...bodyFields(
      quote !== false && isHarmless(effectiveScan(message)) ? await quoteMessage(deps, message, facts, reply) : body,
    ),
    from,
    to: to.map(formatAddress),
    ...(cc.length > 0 ? { cc: [...[reply.cc ?? []].flat(), ...cc.map(formatAddress)] } : {}),
    subject: reply.subject ?? replySubject(facts.subject),
    headers: { ...reply.headers, ...replyHeaders(threadHeadersOf(message, facts)) },
  })
}

async function quoteMessage(
  deps: ReplyDeps,
  message: MessageDetailRow,
  facts: MessageSummary,
  reply: Pick<SendEmail, 'text' | 'html' | 'attachments'>,
): Promise<BodyForms> {
  const original = await prepareQuotedMessage(deps.texts, message, facts, reply.attachments)
  return await appendQuotedMessage(deps.texts, 'reply', await withText(bodyFormsOf(reply), deps.texts), original)
}

async function recipientsOf(
  deps: ReplyDeps,
  { organization_id, brand_id, rcpt_to }: MessageDetailRow,
  facts: MessageSummary,
  { whom, from }: { readonly whom: ReplyAudience; readonly from: string },
): Promise<ReplyRecipients> {
  if (whom === 'author') return replyRecipients(facts)
  const brand = { organizationId: organization_id, brandId: brand_id }
  const own = await findOwnAddresses(deps.db, brand, correspondentsOf(facts))
  const ourselves = new Set([rcpt_to, from].map(value => value.toLowerCase()))
  return replyAllRecipients(facts, address => own.has(address) || ourselves.has(address.toLowerCase()))
}

/** A report of delivery has no author (RFC 5321 §4.5.5), and machines do not answer each other (RFC 3834 §2). */
function refuseUnanswerable(
  { id, mail_from }: MessageDetailRow,
  facts: MessageSummary,
  { headers }: ReplyFields,
): void {
  if (mail_from === '')
    throw noReplyAddress(`The message ${id} has an empty reverse-path: nobody wants an answer to it.`)
  if (isAutomaticReply(headers) && refusesAutomaticReplies(facts.headers))
    throw noReplyAddress(`The message ${id} was sent automatically or to a list; it takes no automatic reply.`)
}

function noReplyAddress(message: string) {
  return refuse('no_reply_address', { message })
}
