import { dayMs, fromIso, type Instant, millisecondsOf, plusMs } from '../../base/clock.ts'
import { refuse } from '../../base/refusal.ts'
import type { Address } from '../../mail/address.ts'
import type { SendEmail } from '../emails/schema.ts'
import { requireLinkable } from '../suppressions/unsubscribe-link.ts'
import { readVariables, type TemplateVariables } from '../templates/content.ts'
import {
  type AttachmentDescription,
  attachmentRefusals,
  type OutgoingAttachment,
  readAttachments,
  requireAttachmentLimits,
} from './attachments.ts'
import { type HeaderField, readHeaders } from './headers.ts'
import { invalidParameter } from './invalid-parameter.ts'
import { maxRecipients, type RecipientLists, readAddress, readAddresses, readRecipients } from './recipients.ts'

/** What is recorded of an email to be sent, whoever composes its message. */
export interface EmailDescription {
  readonly from: Address
  readonly recipients: RecipientLists
  readonly replyTo: readonly Address[]
  readonly subject: string
  readonly attachments: readonly AttachmentDescription[]
  /** Those that Mailroom does not set itself; In-Reply-To and References name its thread. */
  readonly headers: readonly HeaderField[]
  readonly tags: readonly { readonly name: string; readonly value: string }[]
  readonly metadata: Readonly<Record<string, string>>
  readonly scheduledAt: Instant | null
  /** For how long after it is due delivery is attempted, in milliseconds. */
  readonly expiresInMs: number
  /** Does it carry a one-click unsubscribe link (RFC 8058)? */
  readonly unsubscribe: boolean
  readonly template: { readonly slug: string } | null
}

/** An email to be composed and sent, as the request describes it, with every field checked. */
export interface OutgoingEmail extends EmailDescription {
  readonly text: string | null
  readonly html: string | null
  readonly attachments: readonly OutgoingAttachment[]
  /** Renders what the request itself does not give; see templates/fill-template.ts. */
  readonly template: { readonly slug: string; readonly variables: TemplateVariables } | null
}

/** The largest text, or HTML, in bytes of UTF-8. */
export const maxBodyBytes = 2 * 1024 * 1024
const maxScheduleDays = 30
/** For how long delivery is attempted unless the request says otherwise, in milliseconds. */
export const defaultExpiryMs = 5 * dayMs
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const lineBreaking = /[\r\n\u0000]/

/** Checks the fields of a request to send. @throws invalid_request that names the parameter at fault. */
export function parseSendRequest(fields: SendEmail, now: Instant): OutgoingEmail {
  const outgoing = readFields(fields, now)
  if (outgoing.unsubscribe) requireLinkable(outgoing.recipients, outgoing.headers)
  return outgoing
}

function readFields(fields: SendEmail, now: Instant): OutgoingEmail {
  return {
    from: readAddress(fields.from, 'from'),
    recipients: readRecipients(fields),
    replyTo: readReplyTo(fields.reply_to),
    subject: readSubject(fields.subject),
    text: readBody(fields.text, 'text'),
    html: readBody(fields.html, 'html'),
    attachments: readAttachments(fields.attachments),
    headers: readHeaders(fields.headers),
    ...readHandling(fields, now),
    expiresInMs: fields.expires_in === undefined ? defaultExpiryMs : fields.expires_in * 1000,
    unsubscribe: fields.unsubscribe ?? false,
    template: readTemplate(fields),
  }
}

/** Reads how an email is to be handled: these fields say nothing of its message. @throws invalid_request that names the parameter at fault */
export function readHandling(
  fields: Pick<SendEmail, 'tags' | 'metadata' | 'scheduled_at'>,
  now: Instant,
): Pick<EmailDescription, 'tags' | 'metadata' | 'scheduledAt'> {
  return {
    tags: readTags(fields.tags),
    metadata: readMetadata(fields.metadata),
    scheduledAt: readSchedule(fields.scheduled_at, now),
  }
}

/** The refusals of {@link requireWithinLimits}. */
export const limitRefusals = ['too_many_recipients', ...attachmentRefusals] as const

/** @throws too_many_recipients, too_many_attachments, attachments_too_large. */
export function requireWithinLimits({ recipients, attachments }: EmailDescription): void {
  if (recipients.namedCount > maxRecipients)
    throw refuse('too_many_recipients', {
      message: `${recipients.namedCount} recipients are more than the ${maxRecipients} that one email may have.`,
      param: 'to',
    })
  requireAttachmentLimits(attachments)
}

/** The refusals of {@link requireContent}. */
export const contentRefusals = ['no_content'] as const

/** @throws no_content */
export function requireContent({ subject, text, html }: OutgoingEmail): void {
  if (subject === '') throw refuse('no_content', { message: 'subject: an email needs a subject.', param: 'subject' })
  if (text === null && html === null)
    throw refuse('no_content', { message: 'text: an email needs text or html.', param: 'text' })
}

function readTemplate({ template, variables }: SendEmail): OutgoingEmail['template'] {
  if (template !== undefined) return { slug: template, variables: readVariables(variables) }
  if (variables !== undefined) throw invalidParameter('variables', 'variables need a template, and none is given')
  return null
}

function readReplyTo(input: SendEmail['reply_to']): readonly Address[] {
  if (Array.isArray(input) && input.length > maxRecipients)
    throw invalidParameter('reply_to', `at most ${maxRecipients} addresses are allowed`)
  return readAddresses(input, 'reply_to')
}

function readSubject(subject = ''): string {
  if (lineBreaking.test(subject)) throw invalidParameter('subject', 'it contains a line break or NUL')
  return subject.trim() === '' ? '' : subject.toWellFormed()
}

/** An empty body counts as absent; line ends become CRLF (RFC 5322 §2.3). */
export function readBody(body: string | undefined, param: string): string | null {
  if (body === undefined || body === '') return null
  if (body.includes('\u0000')) throw invalidParameter(param, 'it contains NUL')
  if (Buffer.byteLength(body) > maxBodyBytes) throw invalidParameter(param, `it has more than ${maxBodyBytes} bytes`)
  return body.toWellFormed().replace(/\r\n|\r|\n/g, '\r\n')
}

function readTags(tags: SendEmail['tags'] = []): OutgoingEmail['tags'] {
  for (const [i, { name, value }] of tags.entries()) {
    if (/[\p{Cc}:]/u.test(name)) throw invalidParameter(`tags[${i}].name`, 'it contains a colon or a control character')
    if (/\p{Cc}/u.test(value)) throw invalidParameter(`tags[${i}].value`, 'it contains a control character')
  }
  return tags
}

function readMetadata(metadata: SendEmail['metadata'] = {}): OutgoingEmail['metadata'] {
  const names = Object.keys(metadata)
  if (names.length > 20) throw invalidParameter('metadata', 'at most 20 keys are allowed')
  for (const name of names)
    if (name === '' || name.length > 120 || /\p{Cc}/u.test(name + metadata[name]))
      throw invalidParameter(
        `metadata.${name.slice(0, 120)}`,
        'a key must have 1 to 120 characters, and neither keys nor values may contain control characters',
      )
  return metadata
}

function readSchedule(text: string | undefined, now: Instant): Instant | null {
  if (text === undefined) return null
  const at = fromIso(text)
  if (at === undefined)
    throw invalidParameter('scheduled_at', `${JSON.stringify(text.slice(0, 60))} is not an ISO 8601 date-time`)
  if (millisecondsOf(at) < millisecondsOf(now)) throw invalidParameter('scheduled_at', `${text} is in the past`)
  if (at > plusMs(now, maxScheduleDays * dayMs))
    throw invalidParameter('scheduled_at', `${text} is more than ${maxScheduleDays} days ahead`)
  return at
}
