import { t } from 'elysia'
import { sendEmailSchema } from '../../sending/emails/schema.ts'

const { from, to, cc, bcc, subject, text, html, attachments, headers } = sendEmailSchema.properties

/** What a reply holds besides what follows from the message that it answers. */
export const replyBodySchema = t.Object({
  text,
  html,
  cc,
  bcc,
  subject,
  from: t.Optional(from),
  attachments,
  headers,
  quote: t.Optional(
    t.Boolean({
      default: true,
      description: 'Quotes the message below the answer, unless it is infected or could not be scanned.',
    }),
  ),
})
export type ReplyFields = typeof replyBodySchema.static

/** What a forwarded message holds besides the message itself, without its attachments. */
export const forwardBodySchema = t.Object({ to, cc, bcc, text, html, from: t.Optional(from), attachments })
export type ForwardFields = typeof forwardBodySchema.static
