import { t } from 'elysia'
import { sendEmailShape } from '../../sending/emails/schema.ts'

const { from, to, cc, bcc, subject, text, html, attachments, headers } = sendEmailShape.properties

/** What a reply holds besides what follows from the message that it answers. */
export const replyBody = t.Object({
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
export type Reply = typeof replyBody.static

/** What a forwarded message holds besides the message itself, without its attachments. */
export const forwardBody = t.Object({ to, cc, bcc, text, html, from: t.Optional(from), attachments })
export type Forward = typeof forwardBody.static
