import { t } from 'elysia'
import libmime from 'libmime'
import { bodyValidator } from '../../api/validation.ts'
import type { Instant } from '../../base/clock.ts'
import type { HeaderField } from '../../mail/header.ts'
import { invalidParameter } from '../accept/invalid-parameter.ts'
import { type EmailDescription, readHandling } from '../accept/parse-request.ts'
import { type SendEmail, sendEmailSchema } from '../emails/schema.ts'
import { idempotencyKeyField } from './read-message.ts'

/** What the header fields of a submitted message that are meant for Mailroom say. */
export interface MailroomFields extends Pick<EmailDescription, 'tags' | 'metadata' | 'scheduledAt'> {
  /** Does what the HTTP header Idempotency-Key does; null: there is none. */
  readonly idempotencyKey: string | null
}

const handlingSchema = t.Pick(sendEmailSchema, ['tags', 'metadata', 'scheduled_at'])
const validateHandling = bodyValidator(handlingSchema as Parameters<typeof bodyValidator>[0])

/**
 * Reads `X-Mailroom-Tag: name=value` and `X-Mailroom-Metadata: key=value`, of which there may be several,
 * `X-Mailroom-Scheduled-At` and `X-Mailroom-Idempotency-Key`: the same as the fields of a request to send, under the same
 * rules. Others are not looked at.
 * @throws Refusal `invalid_request`
 */
export function readMailroomFields(allHeaders: readonly HeaderField[], now: Instant): MailroomFields {
  const headers = allHeaders.filter(({ name }) => /^x-mailroom-/i.test(name))
  const tags = valuesOf(headers, 'x-mailroom-tag').map(value => pairOf(value, 'X-Mailroom-Tag'))
  const metadata = valuesOf(headers, 'x-mailroom-metadata').map(value => pairOf(value, 'X-Mailroom-Metadata'))
  const scheduledAt = only(headers, 'X-Mailroom-Scheduled-At')
  const handling = {
    tags,
    metadata: Object.fromEntries(metadata.map(({ name, value }) => [name, value])),
    ...(scheduledAt === null ? {} : { scheduled_at: scheduledAt }),
  }
  return {
    ...readHandling(validateHandling(handling) as Pick<SendEmail, 'tags' | 'metadata' | 'scheduled_at'>, now),
    idempotencyKey: only(headers, idempotencyKeyField),
  }
}

function valuesOf(headers: readonly HeaderField[], key: string): readonly string[] {
  return headers.filter(({ name }) => name.toLowerCase() === key).map(({ value }) => libmime.decodeWords(value))
}

function only(headers: readonly HeaderField[], name: string): string | null {
  const [value = null, ...more] = valuesOf(headers, name.toLowerCase())
  if (more.length > 0) throw invalidParameter(name, 'it is given more than once')
  return value
}

function pairOf(text: string, field: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=')
  if (at < 1) throw invalidParameter(field, `${JSON.stringify(text.slice(0, 60))} is not of the form name=value`)
  return { name: text.slice(0, at).trim(), value: text.slice(at + 1).trim() }
}
