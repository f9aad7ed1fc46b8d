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

/** Whom a reply goes to: the author (Reply-To, else From), or everyone who got the message as well. */
export type ReplyAudience = 'author' | 'all'

/** What {@link replyToMessage} refuses with. */
export const replyRefusals = [...threadSendRefusals, 'no_content', 'no_reply_address'] as const

/**
 * Sends a reply to a message into its thread. The message is not marked as read, and is not quoted if it is infected or could
 * not be scanned.
 * @throws Refusal not_found, brand_restricted, from_not_allowed, no_content, no_reply_address, and those of a send
 */
export async function replyToMessage(
  deps: ReplyDeps,
  request: ReplyRequest,
  reply: ReplyFields,
  audience: ReplyAudience,
): Promise<AcceptedEmail> {
  const message = await requireMessage(deps.db, request.caller, request.id)
  const from = await resolveSender(deps, message, reply.from)
  const body = bodyFormsOf(reply)
  if (body.text === null && body.html === null)
    throw refuse('no_content', { message: 'text: a reply needs text or html.', param: 'text' })
  requireNoThreadHeaders(reply.headers)
  const summary = await readStoredSummary(deps, message)
  requireRepliable(message, summary, reply)
  const { to, cc } = await recipientsOf(deps, message, summary, { audience, from })
  if (to.length === 0) throw noReplyAddress(`The message ${message.id} names nobody to reply to.`)
  const { quote, ...fields } = reply
  return await sendIntoThread(deps, request, message, {
    ...fields,
    ...bodyFields(
      quote !== false && isHarmless(effectiveScan(message)) ? await quoteMessage(deps, message, summary, reply) : body,
    ),
    from,
    to: to.map(formatAddress),
    ...(cc.length > 0 ? { cc: [...[reply.cc ?? []].flat(), ...cc.map(formatAddress)] } : {}),
    subject: reply.subject ?? replySubject(summary.subject),
    headers: { ...reply.headers, ...replyHeaders(threadHeadersOf(message, summary)) },
  })
}

async function quoteMessage(
  deps: ReplyDeps,
  message: MessageDetailRow,
  summary: MessageSummary,
  reply: Pick<SendEmail, 'text' | 'html' | 'attachments'>,
): Promise<BodyForms> {
  const quoted = await prepareQuotedMessage(deps.texts, message, summary, reply.attachments)
  return await appendQuotedMessage(deps.texts, 'reply', await withText(bodyFormsOf(reply), deps.texts), quoted)
}

/** Whom a reply goes to; nobody of the brand itself. */
export async function recipientsOf(
  deps: Pick<ReplyDeps, 'db'>,
  { organization_id, brand_id, rcpt_to }: MessageDetailRow,
  summary: MessageSummary,
  { audience, from }: { readonly audience: ReplyAudience; readonly from: string },
): Promise<ReplyRecipients> {
  if (audience === 'author') return replyRecipients(summary)
  const brand = { organizationId: organization_id, brandId: brand_id }
  const ownAddresses = await findOwnAddresses(deps.db, brand, correspondentsOf(summary))
  const ourselves = new Set([rcpt_to, from].map(address => address.toLowerCase()))
  return replyAllRecipients(summary, address => ownAddresses.has(address) || ourselves.has(address.toLowerCase()))
}

/**
 * A bounce has nobody to reply to (RFC 5321 §4.5.5), and programs do not reply to each other (RFC 3834 §2).
 * @throws Refusal no_reply_address
 */
export function requireRepliable(
  { id, mail_from }: MessageDetailRow,
  summary: MessageSummary,
  { headers }: Pick<ReplyFields, 'headers'>,
): void {
  if (mail_from === '')
    throw noReplyAddress(`The message ${id} has an empty reverse-path (MAIL FROM:<>), so there is nobody to reply to.`)
  if (isAutomaticReply(headers) && refusesAutomaticReplies(summary.headers))
    throw noReplyAddress(`The message ${id} was sent automatically or to a list, so it gets no automatic reply.`)
}

function noReplyAddress(message: string) {
  return refuse('no_reply_address', { message })
}
