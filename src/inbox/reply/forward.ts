import type { AcceptedEmail } from '../../sending/accept/accepted-response.ts'
import { maxBodyBytes } from '../../sending/accept/parse-request.ts'
import { effectiveScan, requireClean, scanRefusals } from '../messages/download.ts'
import { requireMessage } from '../messages/messages.ts'
import { readStoredSummary } from '../messages/stored-message.ts'
import { forwardHeaders } from './headers.ts'
import { htmlOfText } from './quotation.ts'
import { appendQuotedMessage, prepareQuotedMessage, type QuotedMessage } from './quoted-message.ts'
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
import type { ForwardFields } from './schema.ts'
import { forwardSubject } from './subject.ts'

/** What {@link forwardMessage} refuses with. */
export const forwardRefusals = [...threadSendRefusals, ...scanRefusals] as const

/**
 * Forwards a message to others, below the text of the request, in the message's thread. The message is not marked as read.
 * Only the attachments of the request are sent, not those of the message.
 * @throws Refusal not_found, brand_restricted, from_not_allowed, attachment_infected, attachment_unscanned, and as `send`
 * does
 */
export async function forwardMessage(
  deps: ReplyDeps,
  request: ReplyRequest,
  forward: ForwardFields,
): Promise<AcceptedEmail> {
  const message = await requireMessage(deps.db, request.caller, request.id)
  const from = await resolveSender(deps, message, forward.from)
  requireClean(effectiveScan(message))
  const summary = await readStoredSummary(deps, message)
  const quoted = await prepareQuotedMessage(deps.texts, message, summary, forward.attachments)
  const body = toBodyForms(await withText(bodyFormsOf(forward), deps.texts), quoted)
  return await sendIntoThread(deps, request, message, {
    ...forward,
    ...bodyFields(await appendQuotedMessage(deps.texts, 'forward', body, quoted)),
    from,
    subject: forwardSubject(summary.subject),
    headers: forwardHeaders(threadHeadersOf(message, summary)),
  })
}

/** The body in each form that the quoted message has; a text that would be too long as HTML stays text. */
function toBodyForms({ text, html }: BodyForms, quoted: QuotedMessage): BodyForms {
  if (html !== null || quoted.html === null) return { text: text ?? '', html }
  const textAsHtml = text === null ? '' : htmlOfText(text)
  return { text: text ?? '', html: Buffer.byteLength(textAsHtml) < maxBodyBytes / 2 ? textAsHtml : null }
}
