import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../api/common-schemas.ts'
import { emailItemSchema } from '../sending/emails/schema.ts'
import { folderSchema, inboxItemSchema } from './messages/schema.ts'

const countFields = {
  count: t.Integer({ description: 'At most 10,000.' }),
  is_more: t.Boolean({ description: 'There are more than 10,000.' }),
}

/** The unread messages of each folder. */
export const unreadCountsSchema = t.Object({ data: t.Array(t.Object({ folder: folderSchema, ...countFields })) })

export const cappedCountSchema = t.Object(countFields)

const mailboxIdSchema = t.Optional(t.String({ minLength: 1, maxLength: 64 }))

export const unreadQuerySchema = t.Object({ mailbox_id: mailboxIdSchema })

const matchingFields = {
  folder: folderSchema,
  mailbox_id: mailboxIdSchema,
  received_until: t.String({ description: 'The `received_at` of the newest message that the list shows.' }),
}

/** Which messages are counted. */
export const matchingQuerySchema = t.Object({ ...matchingFields, read: t.Optional(oneOf(['true', 'false'])) })

/** Which messages are changed, and how. */
export const matchingChangeSchema = t.Object({
  ...matchingFields,
  change: t.Object({ folder: t.Optional(folderSchema), read: t.Optional(t.Boolean()) }),
})

export const matchingChangedSchema = t.Object({ updated: t.Array(t.String()), has_more: t.Boolean() })

export const threadSchema = t.Object({
  data: t.Array(
    t.Union([
      t.Object({ kind: t.Literal('received'), at: dateTimeSchema, message: inboxItemSchema }),
      t.Object({ kind: t.Literal('sent'), at: dateTimeSchema, email: emailItemSchema }),
    ]),
  ),
  has_more: t.Boolean({ description: 'Older ones are left out.' }),
})

const recipientsSchema = t.Object({ to: t.Array(t.String()), cc: t.Array(t.String()) })
const previewedRefusalSchema = nullable(t.Object({ code: t.String(), message: t.String() }))

export const replyPreviewSchema = t.Object({
  from: t.String(),
  subject: t.String(),
  forward_subject: t.String(),
  reply: recipientsSchema,
  reply_all: recipientsSchema,
  is_quoted: t.Boolean(),
  is_automatic: t.Boolean(),
  reply_refusal: previewedRefusalSchema,
  forward_refusal: previewedRefusalSchema,
})
