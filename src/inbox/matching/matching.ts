import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Flag, type Folder, folders } from '../../base/database/schema.ts'
import { type Id, isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { type MessageChange, updateMessages } from '../messages/table.ts'
import type { MoveDeps } from '../spam-lessons/lessons.ts'
import { countMatchingMessages, type MessageFilter, selectMatchingIds, selectUnreadByFolder } from './table.ts'

/** Counts go so far; what is more is shown as "10,000+". */
const maxCount = 10_000

/** A number that is exact up to {@link maxCount}. */
export interface CappedCount {
  readonly count: number
  /** There are more. */
  readonly is_more: boolean
}

/** The unread messages of each folder, of one mailbox or of all. */
export async function countUnread(
  db: Db,
  tenant: Tenant,
  mailboxId: string | undefined,
): Promise<readonly ({ readonly folder: Folder } & CappedCount)[]> {
  const mailbox = readMailbox(mailboxId)
  const counts =
    mailbox === undefined
      ? new Map<Folder, number>()
      : await selectUnreadByFolder(db, tenant, folders, { mailboxId: mailbox, limit: maxCount + 1 })
  return folders.map(folder => ({ folder, ...capped(counts.get(folder) ?? 0) }))
}

/** Which messages: those of a folder, of one mailbox or of all, received until then. */
export interface Matching {
  readonly folder: Folder
  readonly mailboxId: string | undefined
  readonly receivedUntil: Instant
}

/** How many messages of those there are; with `isRead`, only those that are read, or are not. */
export async function countMatching(
  db: Db,
  tenant: Tenant,
  matching: Matching,
  isRead: boolean | undefined,
): Promise<CappedCount> {
  const mailboxId = readMailbox(matching.mailboxId)
  if (mailboxId === undefined) return capped(0)
  const filter = { ...matching, mailboxId, isRead: isRead === undefined ? null : flag(isRead) }
  return capped(await countMatchingMessages(db, tenant, filter, maxCount + 1))
}

const batchSize = 1000

/**
 * Moves the next 1,000 messages of those to another folder, or marks them; to be called again while there are more. What it
 * changed matches no longer.
 * @throws Refusal `invalid_request` unless exactly one thing is to be changed, and another than it is
 */
export async function changeMatching(
  { db, beforeMove }: MoveDeps,
  tenant: Tenant,
  matching: Matching,
  fields: { readonly folder?: Folder; readonly read?: boolean },
): Promise<{ readonly updated: readonly Id<'msg'>[]; readonly has_more: boolean }> {
  const { change, isRead } = changeOf(matching, fields)
  const mailboxId = readMailbox(matching.mailboxId)
  if (mailboxId === undefined) return { updated: [], has_more: false }
  const filter: MessageFilter = { ...matching, mailboxId, isRead }
  return inTransaction(db, async tx => {
    const found = await selectMatchingIds(tx, tenant, filter, batchSize + 1)
    const updated = found.slice(0, batchSize)
    const { organizationId } = tenant
    if (change.folder !== undefined) await beforeMove?.(tx, { organizationId, ids: updated, folder: change.folder })
    await updateMessages(tx, organizationId, updated, change)
    return { updated, has_more: found.length > batchSize }
  })
}

function changeOf(
  { folder: from }: Matching,
  { folder, read }: { readonly folder?: Folder; readonly read?: boolean },
): { readonly change: MessageChange; readonly isRead: MessageFilter['isRead'] } {
  if ((folder === undefined) === (read === undefined))
    throw refuse('invalid_request', { message: 'Give exactly one of folder and read.' })
  if (read !== undefined) return { change: { is_read: flag(read) }, isRead: flag(!read) }
  if (folder === undefined || folder === from)
    throw refuse('invalid_request', { message: `The messages are in ${from} already.`, param: 'change.folder' })
  return { change: { folder }, isRead: null }
}

/** null: all mailboxes; undefined: there is none with such an id. */
function readMailbox(id: string | undefined): Id<'mbx'> | null | undefined {
  if (id === undefined) return null
  return isId('mbx', id) ? id : undefined
}

function capped(count: number): CappedCount {
  return { count: Math.min(count, maxCount), is_more: count > maxCount }
}

function flag(isSet: boolean): Flag {
  return isSet ? 1 : 0
}
