import { fromJson } from '../../base/database/schema.ts'
import type { MessageSummary } from '../../mail/message.ts'
import type { MessageDetailRow } from './table.ts'

/** What is left of a message whose bytes retention deleted: what lists show of it, and its place in a thread. */
export type PurgedMessageRow = Pick<
  MessageDetailRow,
  'subject' | 'from_address' | 'from_name' | 'to_addresses' | 'message_id' | 'in_reply_to'
>

/** What is left, as if it had been parsed from the message. */
export function purgedMessageSummary(row: PurgedMessageRow): MessageSummary {
  return {
    from: row.from_address === '' ? [] : [{ address: row.from_address, name: row.from_name }],
    fromFields: 1,
    hops: 0,
    to: fromJson(row.to_addresses),
    cc: [],
    replyTo: [],
    subject: row.subject,
    messageId: row.message_id,
    inReplyTo: row.in_reply_to,
    references: [],
    date: null,
    text: null,
    html: null,
    headers: [],
    attachments: [],
    problem: null,
    hasMoreParts: false,
    isRepaired: false,
    base64Bodies: [],
  }
}
