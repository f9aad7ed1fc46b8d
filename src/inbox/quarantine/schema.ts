import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { toIso } from '../../base/clock.ts'
import type { QuarantinedMessage } from './quarantine.ts'

/** The most messages that one selection names. */
export const maxSelectedMessages = 1000

const scanSchema = oneOf(['clean', 'infected', 'error', 'skipped'], {
  description: '`error`: it could not be scanned.',
})

const quarantinedFields = {
  id: t.String(),
  organization_id: t.String(),
  brand_id: t.String(),
  folder: oneOf(['inbox', 'spam', 'archive', 'trash', 'quarantine']),
  folder_reason: t.String(),
  received_at: dateTimeSchema,
  size: t.Integer(),
  mail_from: t.String(),
  rcpt_to: t.String(),
  remote_ip: t.String(),
  helo: t.String(),
  from_address: t.String(),
  subject: t.String(),
  spf: t.String(),
  dkim: t.String(),
  dmarc: t.String(),
  scan: scanSchema,
  scan_signature: nullable(t.String()),
  rescan_at: nullable(dateTimeSchema),
  sha256: nullable(t.String({ description: 'Of the raw message, in hexadecimal; null: its content was deleted.' })),
  attachments: t.Array(
    t.Object({
      filename: t.String(),
      content_type: t.String(),
      size: t.Integer(),
      sha256: t.String(),
      scan: scanSchema,
      scan_signature: nullable(t.String()),
    }),
  ),
}

const quarantinedSchema = t.Object(quarantinedFields, { title: 'QuarantinedMessage' })

export const quarantinePageSchema = t.Object({
  data: t.Array(quarantinedSchema),
  next_cursor: nullable(t.String()),
})

export const quarantineDetailSchema = t.Object({
  ...quarantinedFields,
  header: nullable(t.String({ description: 'The header as it was received; null: the content was deleted.' })),
  audit: t.Array(t.Object({ at: dateTimeSchema, actor: t.String(), action: t.String() })),
})

export const quarantineActionSchema = t.Object({
  ids: t.Optional(t.Array(t.String(), { maxItems: maxSelectedMessages })),
  sha256: t.Optional(t.String({ pattern: '^[0-9a-fA-F]{64}$', expected: 'a SHA-256 in hexadecimal' })),
  organization_id: t.Optional(t.String()),
  dry_run: t.Optional(t.Boolean({ description: 'Changes nothing, and counts what would be done.' })),
  cursor: t.Optional(t.String({ description: 'Goes on where the last call stopped: its next_cursor.' })),
})

export const quarantineActionResultSchema = t.Object({
  dry_run: t.Boolean(),
  count: t.Integer(),
  infected: t.Integer({ description: 'How many of them the scanner found infected.' }),
  not_in_quarantine: t.Array(t.String()),
  next_cursor: nullable(t.String({ description: 'null: all of the selection was done.' })),
})

/** A message in quarantine, for operators. */
export function toJsonQuarantined(message: QuarantinedMessage): typeof quarantinedSchema.static {
  const { sha256, attachments, received_at, rescan_at, blob_id: _, size, ...rest } = message
  return {
    ...rest,
    size: Number(size),
    received_at: toIso(received_at),
    rescan_at: rescan_at && toIso(rescan_at),
    sha256: sha256?.toString('hex') ?? null,
    attachments: attachments.map(({ message_id: _, ...attachment }) => ({
      ...attachment,
      size: Number(attachment.size),
      sha256: attachment.sha256.toString('hex'),
    })),
  }
}
