import { sql } from 'kysely'
import type { BrandTenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Flag } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'

export interface EmailThread {
  readonly threadId: string
  readonly acceptedAt: Instant
}

/** The thread that an email is in. */
export async function selectEmailThread(
  db: Db,
  { organizationId }: BrandTenant,
  emailId: Id<'eml'>,
): Promise<EmailThread> {
  return await db
    .selectFrom('emails')
    .select(['thread_id as threadId', 'created_at as acceptedAt'])
    .where('id', '=', emailId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
}

/** A received message that may be a reply. */
export interface ThreadMessage {
  readonly id: Id<'msg'>
  readonly messageId: string | null
  readonly inReplyTo: string | null
  readonly inReplyToEmailId: Id<'eml'> | null
  readonly isReply: Flag | null
  readonly receivedAt: Instant
}

/** The first messages of a thread, at most `limit`, oldest first. */
export async function selectThreadMessages(
  db: Db,
  { organizationId, brandId }: BrandTenant,
  threadId: string,
  limit: number,
): Promise<readonly ThreadMessage[]> {
  return await db
    .selectFrom('messages')
    .select([
      'id',
      'message_id as messageId',
      'in_reply_to as inReplyTo',
      'in_reply_to_email_id as inReplyToEmailId',
      'is_reply as isReply',
      'received_at as receivedAt',
    ])
    .where('thread_id', '=', threadId)
    .where('organization_id', '=', organizationId)
    .where('brand_id', '=', brandId)
    .orderBy('received_at')
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute()
}

/** A sent email in a thread, with the Message-IDs that it is known by. */
export interface ThreadEmail {
  readonly id: Id<'eml'>
  readonly messageId: string
  readonly wireMessageId: string | null
}

/** Of the first `limit` emails that a brand has sent since `since`, those in this thread. */
export async function selectThreadEmails(
  db: Db,
  { organizationId, brandId }: BrandTenant,
  threadId: string,
  { since, limit }: { readonly since: Instant; readonly limit: number },
): Promise<readonly ThreadEmail[]> {
  const sent = db
    .selectFrom('emails')
    .select(['id', 'thread_id', 'message_id', 'wire_message_id'])
    .where('brand_id', '=', brandId)
    .where('organization_id', '=', organizationId)
    .where('created_at', '>=', since)
    .orderBy('created_at')
    .limit(sql.lit(limit))
    .as('sent')
  return await db
    .selectFrom(sent)
    .select(['id', 'message_id as messageId', 'wire_message_id as wireMessageId'])
    .where('thread_id', '=', threadId)
    .execute()
}

/** Moves messages and emails to another thread. */
export async function updateThread(
  db: Db,
  { organizationId }: BrandTenant,
  moved: { readonly messages: readonly Id<'msg'>[]; readonly emails: readonly Id<'eml'>[] },
  threadId: string,
): Promise<void> {
  if (moved.messages.length > 0)
    await db
      .updateTable('messages')
      .set({ thread_id: threadId })
      .where('id', 'in', moved.messages)
      .where('organization_id', '=', organizationId)
      .execute()
  if (moved.emails.length > 0)
    await db
      .updateTable('emails')
      .set({ thread_id: threadId })
      .where('id', 'in', moved.emails)
      .where('organization_id', '=', organizationId)
      .execute()
}

/** Records that these messages are replies to an email. */
export async function updateInReplyTo(
  db: Db,
  { organizationId }: BrandTenant,
  ids: readonly Id<'msg'>[],
  emailId: Id<'eml'>,
): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('messages')
    .set({ in_reply_to_email_id: emailId })
    .where('id', 'in', ids)
    .where('organization_id', '=', organizationId)
    .execute()
}
