import { type Instant, millisecondsOf } from '../../base/clock.ts'
import { refuse } from '../../base/refusal.ts'
import type { MessageSummary } from '../../mail/message.ts'
import { maxBodyBytes } from '../../sending/accept/parse-request.ts'
import type { SendEmail } from '../../sending/emails/schema.ts'
import type { MessageDetailRow } from '../messages/table.ts'
import type { TextWorker } from '../text-worker/text-worker.ts'
import type { Quotation } from './quotation.ts'
import type { BodyForms } from './reply-sender.ts'

/** A message as it is quoted. */
export interface QuotedMessage extends BodyForms {
  readonly summary: MessageSummary
  readonly receivedAt: Instant
}

/**
 * What is quoted of a message: its sanitized HTML without remote images; its text, made from the HTML if it has none. Inline
 * images stay where an attachment of the new email has their content id.
 */
export async function prepareQuotedMessage(
  texts: TextWorker,
  message: Pick<MessageDetailRow, 'received_at'>,
  summary: MessageSummary,
  attachments: SendEmail['attachments'] = [],
): Promise<QuotedMessage> {
  const contentIds = attachments.flatMap(attachment => attachment.content_id?.replace(/^<|>$/g, '') ?? []).join(' ')
  const html = summary.html === null ? null : await texts.run('sanitizeQuotedHtml', summary.html, contentIds)
  const text = summary.text ?? (html === null ? null : await texts.run('textAlternative', html))
  return { summary, receivedAt: message.received_at, text, html }
}

/**
 * The body with the quoted message below it, in each of the body's forms, none longer than a body may be.
 * @throws Refusal unavailable when that takes too long
 */
export async function appendQuotedMessage(
  texts: TextWorker,
  kind: Quotation['kind'],
  { text, html }: BodyForms,
  quoted: QuotedMessage,
): Promise<BodyForms> {
  const quotation = JSON.stringify(quotationOf(kind, quoted))
  const [quotedText, quotedHtml] = [quoted.text ?? '', quoted.html ?? '']
  return {
    text: text === null ? null : await requireResult(texts.run('quoteInText', text, quotedText, quotation)),
    html: html === null ? null : await requireResult(texts.run('quoteInHtml', html, quotedHtml, quotedText, quotation)),
  }
}

function quotationOf(kind: Quotation['kind'], { summary, receivedAt }: QuotedMessage): Quotation {
  const { from, to, cc, subject, date } = summary
  const year = date?.getUTCFullYear() ?? 0
  const isPlausible = year >= 1970 && year <= 9999
  const sentAtMs = date && isPlausible ? date.getTime() : millisecondsOf(receivedAt)
  return { kind, from, to, cc, subject, sentAtMs, maxBytes: maxBodyBytes }
}

async function requireResult(task: Promise<string | null>): Promise<string> {
  const result = await task
  if (result === null)
    throw refuse('unavailable', { message: 'The message could not be quoted in time.', retryAfterSeconds: 5 })
  return result
}
