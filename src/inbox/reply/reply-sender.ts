import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { refuse } from '../../base/refusal.ts'
import { splitAddress } from '../../mail/address.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { AcceptedEmail } from '../../sending/accept/accepted-response.ts'
import { attachmentRefusals } from '../../sending/accept/attachments.ts'
import { acceptanceRefusals } from '../../sending/accept/checks.ts'
import type { SendDeps } from '../../sending/accept/open-sending.ts'
import { readAddress } from '../../sending/accept/recipients.ts'
import { fromRefusals } from '../../sending/accept/resolve.ts'
import type { SendEmail } from '../../sending/emails/schema.ts'
import { send } from '../../sending/send.ts'
import { messageRefusals } from '../messages/messages.ts'
import type { MessageDetailRow } from '../messages/table.ts'
import type { InboxDeps } from '../routes.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import type { ThreadHeaders } from './headers.ts'

export interface ReplyDeps extends Pick<InboxDeps, 'db' | 'blobs' | 'texts'> {
  readonly sending: SendDeps
}

/** The two forms of a body; null: it does not have this one. */
export interface BodyForms {
  readonly text: string | null
  readonly html: string | null
}

/** A request to reply to a message, or to forward it. */
export interface ReplyRequest {
  readonly caller: Caller
  readonly id: string
  readonly reservation?: Reservation | undefined
}

/**
 * The From address of the email: the address that received the message, unless another one of the message's brand is given.
 * @throws Refusal invalid_request, from_not_allowed
 */
export async function resolveSender(
  deps: ReplyDeps,
  message: MessageDetailRow,
  from: string | undefined,
): Promise<string> {
  const sender = from ?? message.rcpt_to
  const { domain } = splitAddress(readAddress(sender, 'from').address)
  const senderDomain = await deps.sending.findDomain({ organizationId: message.organization_id, domain })
  if (senderDomain && senderDomain.brandId !== message.brand_id)
    throw refuse('from_not_allowed', {
      message: `from: ${domain} belongs to another brand than the message ${message.id}.`,
      param: 'from',
    })
  return sender
}

/** The body as it was given; an empty form counts as absent. */
export function bodyFormsOf({ text, html }: Pick<SendEmail, 'text' | 'html'>): BodyForms {
  return { text: text || null, html: html || null }
}

/** The body, with a text made from the HTML if it has none. */
export async function withText({ text, html }: BodyForms, texts: TextWorker): Promise<BodyForms> {
  return { text: text ?? (html === null ? null : await texts.run('textAlternative', html)), html }
}

export function threadHeadersOf(
  { message_id }: MessageDetailRow,
  { inReplyTo, references }: MessageSummary,
): ThreadHeaders {
  return { messageId: message_id, inReplyTo, references }
}

/** What every reply and forward may be refused with. */
export const threadSendRefusals = [
  ...messageRefusals,
  ...fromRefusals,
  'too_many_recipients',
  ...attachmentRefusals,
  ...acceptanceRefusals,
] as const

/** Sends the email into the message's thread. @throws Refusal, as `send` does */
export async function sendIntoThread(
  deps: ReplyDeps,
  { caller, reservation }: ReplyRequest,
  { thread_id }: MessageDetailRow,
  fields: SendEmail,
): Promise<AcceptedEmail> {
  return await send({ sender: caller, fields, reservation, threadId: thread_id, quotaStatus: 422 }, deps.sending)
}

/** The body's forms as fields of an email. */
export function bodyFields({ text, html }: BodyForms): Pick<SendEmail, 'text' | 'html'> {
  return { ...(text === null ? {} : { text }), ...(html === null ? {} : { html }) }
}
