import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import type { MessageCursor } from '../../api/page.ts'
import { requireBrand, requireBrandRefusals } from '../../api/tenant.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { type Folder, fromJson } from '../../base/database/schema.ts'
import { isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { Verdicts } from '../../ports/authenticator/port.ts'
import {
  type MessageChange,
  type MessageDetailRow,
  type MessageItemRow,
  type MessageListing,
  selectItems,
  selectMessage,
  updateMessage,
} from './table.ts'

export interface MessagePage {
  readonly items: readonly MessageItemRow[]
  /** Where the next page begins; undefined: this is the last. */
  readonly next: MessageCursor | undefined
}

/** One page, newest first, of what the key may see. @throws Refusal invalid_cursor */
export async function listMessages(db: Db, caller: Caller, listing: MessageListing): Promise<MessagePage> {
  if (listing.after && !isId('msg', listing.after.id))
    throw refuse('invalid_cursor', {
      message: `"${listing.after.id}" is no place in this list; pass on next_cursor as it was given.`,
      param: 'cursor_id',
    })
  if (!canMatch(listing)) return { items: [], next: undefined }
  const rows = await selectItems(db, caller, { ...listing, limit: listing.limit + 1 })
  const items = rows.slice(0, listing.limit)
  const last = rows.length > listing.limit ? items.at(-1) : undefined
  return { items, next: last && { receivedAt: last.received_at, id: last.id } }
}

/** No row has an id of another form, and the server does not compare every text with one. */
function canMatch({ mailboxId, threadId }: MessageListing): boolean {
  const isThread = threadId === undefined || isId('msg', threadId) || isId('eml', threadId)
  return isThread && (mailboxId === undefined || isId('mbx', mailboxId))
}

/** The refusals of {@link requireMessage}. */
export const messageRefusals = ['not_found', ...requireBrandRefusals] as const

/**
 * The message with this id, if the key may see it.
 * @throws Refusal not_found, as for an id that does not exist; brand_restricted in another brand of the organization.
 */
export async function requireMessage(db: Db, caller: Caller, id: string): Promise<MessageDetailRow> {
  const row = isId('msg', id) ? await selectMessage(db, caller.organizationId, id) : undefined
  if (!row) throw refuse('not_found', { message: `There is no message ${id}.` })
  requireBrand(caller, row.brand_id, { of: `the message ${id}` })
  return row
}

/** Moves a message to a folder; `trash` is how it is deleted. */
export function moveMessage(db: Db, caller: Caller, id: string, folder: Folder, reservation?: Reservation) {
  return changeMessage(db, caller, id, { change: { folder }, answer: { id, folder } }, reservation)
}

/** The refusals of {@link restoreMessage}. */
export const restoreMessageRefusals = [...messageRefusals, 'not_in_trash'] as const

/** Brings a message back from the trash. @throws Refusal not_in_trash */
export function restoreMessage(db: Db, caller: Caller, id: string, reservation?: Reservation) {
  const folder = 'inbox' as const
  return changeMessage(db, caller, id, { change: { folder }, from: 'trash', answer: { id, folder } }, reservation)
}

export function starMessage(db: Db, caller: Caller, id: string, starred: boolean, reservation?: Reservation) {
  return changeMessage(db, caller, id, { change: { starred: starred ? 1 : 0 }, answer: { id, starred } }, reservation)
}

export function markMessage(db: Db, caller: Caller, id: string, read: boolean, reservation?: Reservation) {
  return changeMessage(db, caller, id, { change: { is_read: read ? 1 : 0 }, answer: { id, read } }, reservation)
}

interface MessageChangeRequest<Answer> {
  readonly change: MessageChange
  /** The only folder that it may be changed in. */
  readonly from?: 'trash'
  readonly answer: Answer
}

function changeMessage<Answer extends object>(
  db: Db,
  caller: Caller,
  id: string,
  { change, from, answer }: MessageChangeRequest<Answer>,
  reservation: Reservation | undefined,
): Promise<Answer> {
  return inTransaction(db, async tx => {
    const message = await requireMessage(tx, caller, id)
    const where = from === undefined ? {} : { folder: from }
    const changed = await updateMessage(tx, caller.organizationId, message.id, change, where)
    if (!changed && from !== undefined)
      throw refuse('not_in_trash', { message: `The message ${id} is in ${message.folder}, not in trash.` })
    await storeResponse(tx, reservation, { status: 200, body: answer })
    return answer
  })
}

/** What was found when the message came. */
export function verdictsOf({ verdicts }: Pick<MessageDetailRow, 'verdicts'>): Verdicts {
  return fromJson(verdicts) as Verdicts
}
