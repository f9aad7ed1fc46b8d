import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { appendEvents, type NewEvent } from '../../events/append-events.ts'
import type { ReplyText } from './reply-text.ts'
import { toJsonInboxItem } from './schema.ts'
import { type MessageItemRow, selectEventMessages } from './table.ts'

/** What of a message's row its events give out. */
export type EventMessageRow = MessageItemRow & Pick<DatabaseSchema['messages'], 'organization_id'>

export type MessageEventType = 'message.received' | 'message.quarantined' | 'message.released'

/** Writes an event about each of these messages, as they are now in the caller's transaction; without their text. */
export async function appendMessageEvents(
  tx: Db,
  type: MessageEventType,
  ids: readonly Id<'msg'>[],
  at: Instant,
): Promise<void> {
  const rows = await selectEventMessages(tx, ids)
  await appendEvents(
    tx,
    rows.map(row => messageEvent(type, row, undefined, at)),
  )
}

/**
 * An event about a received message: what lists show of it, and what is new in its text. Where that is cut or left out,
 * `truncated` is true, and GET /v1/inbox/{id} has all.
 * @param reply null: the message has no plain text; absent: its text is not at hand
 */
export function messageEvent(
  type: MessageEventType,
  row: EventMessageRow,
  reply?: ReplyText | null,
  occurredAt = row.received_at,
): NewEvent {
  const item = toJsonInboxItem(row)
  return {
    type,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    mailboxId: row.mailbox_id,
    occurredAt,
    data: { ...item, reply_text: reply?.text ?? null, truncated: reply === undefined || reply?.isCut === true },
    shortened: () => ({ ...item, to: item.to.slice(0, 1), reply_text: null, truncated: true }),
  }
}
