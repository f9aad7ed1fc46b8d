import { t } from 'elysia'
import { sendEmailSchema } from '../../sending/emails/schema.ts'

const { from, to, cc, bcc, subject, text, html, attachments, headers, scheduled_at } = sendEmailSchema.properties

/** The fields of a reply; the others follow from the message. */
export const replyBodySchema = t.Object({
  text,
  html,
  cc,
  bcc,
  subject,
  from: t.Optional(from),
  attachments,
  headers,
  scheduled_at,
  quote: t.Optional(
    t.Boolean({
      default: true,
      description: 'Quotes the message below the reply, unless it is infected or could not be scanned.',
    }),
  ),
})
export type ReplyFields = typeof replyBodySchema.static

/** The fields of a forward; the message is quoted without its attachments. */
export const forwardBodySchema = t.Object({
  to,
  cc,
  bcc,
  text,
  html,
  from: t.Optional(from),
  attachments,
  scheduled_at,
})
export type ForwardFields = typeof forwardBodySchema.static
