import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { refuse } from '../../base/refusal.ts'
import { splitAddress } from '../../mail/address.ts'
import type { MessageFacts } from '../../mail/message.ts'
import type { Accepted } from '../../sending/accept/accepted.ts'
import { readAddress } from '../../sending/accept/recipients.ts'
import type { SendEmail } from '../../sending/emails/schema.ts'
import { type Sending, send } from '../../sending/send.ts'
import type { MessageRow } from '../messages/table.ts'
import type { InboxUse } from '../routes.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import type { Threaded } from './headers.ts'

/** What answering and forwarding stand on. */
export interface AnswerUse extends Pick<InboxUse, 'db' | 'blobs' | 'texts'> {
  readonly sending: Sending
}

/** The two forms of a body; null: it has not this one. */
export interface Body {
  readonly text: string | null
  readonly html: string | null
}

/** The message that is answered or forwarded, and by whom. */
export interface Asked {
  readonly caller: Caller
  readonly id: string
  readonly reservation?: Reservation | undefined
}

/**
 * Whom the email is from: the address that received the message, unless another of the message's brand is given.
 * @throws Refusal invalid_request, from_not_allowed
 */
export async function senderOf(use: AnswerUse, message: MessageRow, from: string | undefined): Promise<string> {
  const sender = from ?? message.rcpt_to
  const { domain } = splitAddress(readAddress(sender, 'from').address)
  const found = await use.sending.findDomain({ organizationId: message.organization_id, domain })
  if (found && found.brandId !== message.brand_id)
    throw refuse('from_not_allowed', {
      message: `from: ${domain} belongs to another brand than the message ${message.id}.`,
      param: 'from',
    })
  return sender
}

/** The body as it was given; an empty form is as an absent one. */
export function bodyOf({ text, html }: Pick<SendEmail, 'text' | 'html'>): Body {
  return { text: text || null, html: html || null }
}

/** The body, the text made from the HTML where there is none. */
export async function withText({ text, html }: Body, texts: TextWorker): Promise<Body> {
  return { text: text ?? (html === null ? null : await texts.run('textOf', html)), html }
}

export function threadedBy({ message_id }: MessageRow, { inReplyTo, references }: MessageFacts): Threaded {
  return { messageId: message_id, inReplyTo, references }
}

/** Sends the email into the thread of the message. @throws Refusal, those of a send */
export async function sendIntoThread(
  use: AnswerUse,
  { caller, reservation }: Asked,
  { thread_id }: MessageRow,
  fields: SendEmail,
): Promise<Accepted> {
  return await send({ sender: caller, fields, reservation, threadId: thread_id, overQuota: 422 }, use.sending)
}

/** The body's forms as a send takes them. */
export function formsOf({ text, html }: Body): Pick<SendEmail, 'text' | 'html'> {
  return { ...(text === null ? {} : { text }), ...(html === null ? {} : { html }) }
}
