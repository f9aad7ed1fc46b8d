import { t } from 'elysia'
import { dateTimeSchema, nullable } from '../../api/common-schemas.ts'
import { type Instant, toIso } from '../../base/clock.ts'
import { receivingSchema, recordSchema } from '../schema.ts'

/** A mailbox in API responses. */
export const mailboxSchema = t.Object(
  {
    id: t.String(),
    domain_id: t.String(),
    brand_id: t.String(),
    local_part: nullable(t.String()),
    address: t.String({ description: '`*@domain` for a catch-all.' }),
    catch_all: t.Boolean(),
    live: t.Boolean(),
    unread_count: t.Integer(),
    created_at: dateTimeSchema,
  },
  { title: 'Mailbox' },
)
export type MailboxJson = typeof mailboxSchema.static

/** The response to its creation. */
export const createdMailboxSchema = t.Object(
  {
    ...mailboxSchema.properties,
    receiving: receivingSchema,
    receiving_mx: recordSchema,
  },
  { title: 'MailboxCreated' },
)
export type CreatedMailboxJson = typeof createdMailboxSchema.static

export interface MailboxDetails {
  readonly id: string
  readonly brand_id: string
  readonly domain_id: string
  readonly domain: string
  readonly local_part: string
  readonly created_at: Instant
  /** Does its domain receive mail? */
  readonly isLive: boolean
}

export function toJsonMailbox(mailbox: MailboxDetails, unread: number): MailboxJson {
  const catchAll = mailbox.local_part === ''
  return {
    id: mailbox.id,
    domain_id: mailbox.domain_id,
    brand_id: mailbox.brand_id,
    local_part: catchAll ? null : mailbox.local_part,
    address: `${catchAll ? '*' : mailbox.local_part}@${mailbox.domain}`,
    catch_all: catchAll,
    live: mailbox.isLive,
    unread_count: unread,
    created_at: toIso(mailbox.created_at),
  }
}
