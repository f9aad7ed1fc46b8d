import { type Instant, millisecondsOf } from '../../base/clock.ts'
import { refuse } from '../../base/refusal.ts'
import type { MessageSummary } from '../../mail/message.ts'
import { maxBodyBytes } from '../../sending/accept/parse-request.ts'
import type { SendEmail } from '../../sending/emails/schema.ts'
import type { MessageDetailRow } from '../messages/table.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import type { Quotation } from './quotation.ts'
import type { BodyForms } from './reply-sender.ts'

/** The message that is quoted. */
export interface QuotedMessage extends BodyForms {
  readonly facts: MessageSummary
  readonly receivedAt: Instant
}

/**
 * What is quoted of a message: its HTML sanitized and without images from elsewhere; its text, made from that where it has
 * none. Inline images stay where an attachment of the new email has their content id.
 */
export async function prepareQuotedMessage(
  texts: TextWorker,
  message: Pick<MessageDetailRow, 'received_at'>,
  facts: MessageSummary,
  attachments: SendEmail['attachments'] = [],
): Promise<QuotedMessage> {
  const contentIds = attachments.flatMap(attachment => attachment.content_id?.replace(/^<|>$/g, '') ?? []).join(' ')
  const html = facts.html === null ? null : await texts.run('sanitizeQuotedHtml', facts.html, contentIds)
  const text = facts.text ?? (html === null ? null : await texts.run('textAlternative', html))
  return { facts, receivedAt: message.received_at, text, html }
}

/**
 * The body with the message below it, in each form that it has; none is longer than a body may be.
 * @throws Refusal unavailable, when that takes too long
 */
export async function appendQuotedMessage(
  texts: TextWorker,
  kind: Quotation['kind'],
  { text, html }: BodyForms,
  original: QuotedMessage,
): Promise<BodyForms> {
  const about = JSON.stringify(quotationOf(kind, original))
  const [originalText, originalHtml] = [original.text ?? '', original.html ?? '']
  return {
    text: text === null ? null : await requireResult(texts.run('quoteInText', text, originalText, about)),
    html: html === null ? null : await requireResult(texts.run('quoteInHtml', html, originalHtml, originalText, about)),
  }
}

function quotationOf(kind: Quotation['kind'], { facts, receivedAt }: QuotedMessage): Quotation {
  const { from, to, cc, subject, date } = facts
  const year = date?.getUTCFullYear() ?? 0
  const isPlausible = year >= 1970 && year <= 9999
  const sentAtMs = date && isPlausible ? date.getTime() : millisecondsOf(receivedAt)
  return { kind, from, to, cc, subject, sentAtMs, maxBytes: maxBodyBytes }
}

async function requireResult(work: Promise<string | null>): Promise<string> {
  const result = await work
  if (result === null)
    throw refuse('unavailable', { message: 'The message could not be quoted in time.', retryAfterSeconds: 5 })
  return result
}
