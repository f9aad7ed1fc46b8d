import type { Caller } from '../../api/caller.ts'
import type { Db } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import { toJsonEmailItem } from '../../sending/emails/emails.ts'
import type { EmailItem } from '../../sending/emails/schema.ts'
import { selectThreadEmails } from '../../sending/emails/table.ts'
import type { InboxItem } from '../messages/schema.ts'
import { toJsonInboxItem } from '../messages/schema.ts'
import { selectItems } from '../messages/table.ts'

/** What was received or sent in a thread, at its time. */
export type ThreadItem =
  | { readonly kind: 'received'; readonly at: string; readonly message: InboxItem }
  | { readonly kind: 'sent'; readonly at: string; readonly email: EmailItem }

const maxItems = 100

/**
 * The newest 100 messages and emails of a thread that the caller may see, oldest first. Emails only for whom may read them.
 */
export async function readThread(
  db: Db,
  caller: Caller,
  threadId: string,
): Promise<{ data: ThreadItem[]; has_more: boolean }> {
  if (!isId('msg', threadId) && !isId('eml', threadId)) return { data: [], has_more: false }
  const limit = maxItems + 1
  const [messages, emails] = await Promise.all([
    selectItems(db, caller, { folder: null, threadId, limit }),
    caller.scopes.has('email:read') ? selectThreadEmails(db, caller, threadId, limit) : [],
  ])
  const items: ThreadItem[] = [
    ...messages.map(toJsonInboxItem).map(message => ({ kind: 'received', at: message.received_at, message }) as const),
    ...emails.map(toJsonEmailItem).map(email => ({ kind: 'sent', at: email.created_at, email }) as const),
  ].sort((a, b) => (a.at < b.at ? -1 : 1))
  return { data: items.slice(-maxItems), has_more: items.length > maxItems }
}
