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

/** The refusals of {@link forwardMessage}. */
export const forwardRefusals = [...threadSendRefusals, ...scanRefusals] as const

/**
 * Sends a message on to others, below what is said of it, in the message's thread; it marks nothing as read. The message's
 * attachments go along only where they are given.
 * @throws Refusal not_found, brand_restricted, from_not_allowed, attachment_infected, attachment_unscanned, and those of a
 * send
 */
export async function forwardMessage(
  deps: ReplyDeps,
  asked: ReplyRequest,
  forward: ForwardFields,
): Promise<AcceptedEmail> {
  const message = await requireMessage(deps.db, asked.caller, asked.id)
  const from = await resolveSender(deps, message, forward.from)
  requireClean(effectiveScan(message))
  const facts = await readStoredSummary(deps, message)
  const original = await prepareQuotedMessage(deps.texts, message, facts, forward.attachments)
  const said = toBodyForms(await withText(bodyFormsOf(forward), deps.texts), original)
  return await sendIntoThread(deps, asked, message, {
    ...forward,
    ...bodyFields(await appendQuotedMessage(deps.texts, 'forward', said, original)),
    from,
    subject: forwardSubject(facts.subject),
    headers: forwardHeaders(threadHeadersOf(message, facts)),
  })
}

/** What is said of it, in each form that the message has; a text that would be too long as HTML stays text. */
function toBodyForms({ text, html }: BodyForms, original: QuotedMessage): BodyForms {
  if (html !== null || original.html === null) return { text: text ?? '', html }
  const made = text === null ? '' : htmlOfText(text)
  return { text: text ?? '', html: Buffer.byteLength(made) < maxBodyBytes / 2 ? made : null }
}
