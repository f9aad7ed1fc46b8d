import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { toIso } from '../../base/clock.ts'
import { folders, fromJson } from '../../base/database/schema.ts'
import type { MessageItemRow } from './table.ts'

const closed = { additionalProperties: false } as const

export const folderSchema = oneOf(folders)

export const listedFolderSchema = t.Optional(
  oneOf(folders, {
    description: 'Only messages in this folder; default `inbox`, or any folder when a thread is listed.',
  }),
)
export const searchedFolderSchema = t.Optional(
  oneOf(folders, { description: 'Only messages in this folder; default: all folders but trash and quarantine.' }),
)
export const remoteContentSchema = t.Optional(
  oneOf(['allow', 'block'], {
    description: '`allow` keeps remote images in the HTML; default `block`, which removes them.',
  }),
)

const scanSchema = oneOf(['clean', 'infected', 'error', 'skipped'])
const addressSchema = t.Object({ address: t.String(), name: t.String() }, { title: 'Address' })

const itemProperties = {
  id: t.String(),
  brand_id: t.String(),
  folder: folderSchema,
  mailbox_id: nullable(t.String()),
  address: t.String({ description: 'The envelope recipient.' }),
  from: addressSchema,
  to: t.Array(addressSchema),
  subject: t.String(),
  preview: t.String(),
  starred: t.Boolean(),
  read: t.Boolean(),
  received_at: dateTimeSchema,
  size: t.Integer({ description: 'Of the message as it was received, in bytes.' }),
  attachment_count: t.Integer(),
  message_id: nullable(t.String()),
  thread_id: t.String(),
  in_reply_to_email_id: nullable(t.String()),
  scan: scanSchema,
}

export const inboxItemSchema = t.Object(
  {
    ...itemProperties,
    auth: t.Object({ spf: t.String(), dkim: t.String(), dmarc: t.String() }),
  },
  { title: 'InboxItem' },
)

export type InboxItem = typeof inboxItemSchema.static

export const inboxPageSchema = t.Object(
  {
    data: t.Array(inboxItemSchema),
    next_cursor: nullable(t.Object({ received_at: dateTimeSchema, id: t.String() })),
  },
  { title: 'InboxPage' },
)

const checkSchema = t.Object(
  {
    result: t.String(),
    domain: nullable(t.String()),
    aligned: nullable(t.Boolean()),
    detail: nullable(t.String()),
  },
  { title: 'AuthenticationCheck' },
)

const spamSchema = t.Object(
  {
    score: t.Number(),
    required: t.Number({ description: 'The score from which the spam filter asks to file a message as spam.' }),
    symbols: t.Array(t.Object({ name: t.String(), score: t.Number() }), {
      description: 'What the filter found, those that weigh most first.',
    }),
  },
  { title: 'SpamFindings', description: 'What the spam filter found; null: there is none, or it did not answer.' },
)

export const inboundMessageSchema = t.Object(
  {
    ...itemProperties,
    cc: t.Array(addressSchema),
    reply_to: t.Array(addressSchema),
    date: nullable(dateTimeSchema),
    text: nullable(t.String()),
    html: nullable(
      t.String({
        description:
          'Sanitized. What style sheets say is in style attributes; what depends on the screen (`@media`) in a style element ' +
          'at its beginning, whose rules reach nothing but this message. Inline images keep their `cid:` URL, with the ' +
          '`content_id` of an attachment.',
      }),
    ),
    reply_text: nullable(t.String({ description: 'The text without quoted messages and signature.' })),
    headers: t.Array(t.Object({ name: t.String(), value: t.String() })),
    in_reply_to: nullable(t.String()),
    references: t.Array(t.String()),
    envelope: t.Object({
      mail_from: t.String(),
      rcpt_to: t.String(),
      remote_ip: t.String(),
      helo: t.String(),
      tls: nullable(t.String()),
    }),
    auth: t.Object({ spf: checkSchema, dkim: checkSchema, dmarc: checkSchema }),
    folder_reason: t.String({
      description:
        'Why it was filed where it was. After `spam_filter` come its score, the score required for spam, and what weighed ' +
        'most: `spam_filter 9.2 of 6 (BAYES_SPAM, R_SPF_FAIL)`.',
    }),
    spam: nullable(spamSchema),
    purged_at: nullable(
      t.String({
        format: 'date-time',
        description: 'When retention deleted its content; what lists show of it remains.',
      }),
    ),
    attachments_purged_at: nullable(
      t.String({ format: 'date-time', description: 'When retention deleted its attachments; the rest remains.' }),
    ),
    attachments: t.Array(
      t.Object({
        id: t.String(),
        filename: t.String(),
        content_type: t.String(),
        size: t.Integer(),
        content_id: nullable(t.String()),
        disposition: t.String(),
        sha256: t.String(),
        scan: scanSchema,
        scan_signature: nullable(t.String()),
      }),
    ),
  },
  { title: 'InboundMessage' },
)

export const attachmentParamsSchema = t.Object({
  id: t.String({ minLength: 1 }),
  attachmentId: t.String({ minLength: 1 }),
})
export const folderBodySchema = t.Object({ folder: folderSchema }, closed)
export const starBodySchema = t.Object({ starred: t.Boolean() }, closed)
export const readBodySchema = t.Object({ read: t.Boolean() }, closed)
export const bulkBodySchema = t.Object(
  {
    ids: t.Array(t.String({ minLength: 1 }), { minItems: 1, maxItems: 200 }),
    folder: t.Optional(folderSchema),
    read: t.Optional(t.Boolean()),
    starred: t.Optional(t.Boolean()),
  },
  closed,
)
export const bulkResultSchema = t.Object({ updated: t.Array(t.String()), not_found: t.Array(t.String()) })
export const movedSchema = t.Object({ id: t.String(), folder: folderSchema })
export const starredSchema = t.Object({ id: t.String(), starred: t.Boolean() })
export const markedSchema = t.Object({ id: t.String(), read: t.Boolean() })

/** The fields that lists and the full message share. */
export function toJsonMessageFields(row: MessageItemRow) {
  return {
    id: row.id,
    brand_id: row.brand_id,
    folder: row.folder,
    mailbox_id: row.mailbox_id,
    address: row.rcpt_to,
    from: { address: row.from_address, name: row.from_name },
    to: [...fromJson(row.to_addresses)],
    subject: row.subject,
    preview: row.preview,
    starred: row.starred === 1,
    read: row.is_read === 1,
    received_at: toIso(row.received_at),
    size: Number(row.size),
    attachment_count: row.attachment_count,
    message_id: row.message_id,
    thread_id: row.thread_id,
    in_reply_to_email_id: row.in_reply_to_email_id,
    scan: row.scan,
  }
}

export function toJsonInboxItem(row: MessageItemRow): InboxItem {
  return { ...toJsonMessageFields(row), auth: { spf: row.spf, dkim: row.dkim, dmarc: row.dmarc } }
}
