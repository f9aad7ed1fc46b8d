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
import type { MoveDeps } from '../spam-lessons/lessons.ts'
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
  /** Undefined: this is the last page. */
  readonly next: MessageCursor | undefined
}

/** One page of the messages that the caller may see, newest first. @throws Refusal invalid_cursor */
export async function listMessages(db: Db, caller: Caller, listing: MessageListing): Promise<MessagePage> {
  if (listing.after && !isId('msg', listing.after.id))
    throw refuse('invalid_cursor', {
      message: `"${listing.after.id}" is not a position in this list; pass next_cursor on unchanged.`,
      param: 'cursor_id',
    })
  if (!canMatch(listing)) return { items: [], next: undefined }
  const rows = await selectItems(db, caller, { ...listing, limit: listing.limit + 1 })
  const items = rows.slice(0, listing.limit)
  const last = rows.length > listing.limit ? items.at(-1) : undefined
  return { items, next: last && { receivedAt: last.received_at, id: last.id } }
}

/** Are the ids well formed? No row has any other, so there is nothing to select. */
function canMatch({ mailboxId, threadId }: MessageListing): boolean {
  const isThread = threadId === undefined || isId('msg', threadId) || isId('eml', threadId)
  return isThread && (mailboxId === undefined || isId('mbx', mailboxId))
}

/** What {@link requireMessage} refuses with. */
export const messageRefusals = ['not_found', ...requireBrandRefusals] as const

/**
 * The message with this id, if the caller may see it.
 * @throws Refusal not_found, also in another organization; brand_restricted in another brand of the same organization
 */
export async function requireMessage(db: Db, caller: Caller, id: string): Promise<MessageDetailRow> {
  const row = isId('msg', id) ? await selectMessage(db, caller.organizationId, id) : undefined
  if (!row) throw refuse('not_found', { message: `There is no message ${id}.` })
  requireBrand(caller, row.brand_id, { of: `the message ${id}` })
  return row
}

/** Moves a message to a folder. Deleting a message moves it to `trash`. */
export function moveMessage(deps: MoveDeps, caller: Caller, id: string, folder: Folder, reservation?: Reservation) {
  return changeMessage(deps, caller, id, { change: { folder }, response: { id, folder } }, reservation)
}

/** What {@link restoreMessage} refuses with. */
export const restoreMessageRefusals = [...messageRefusals, 'not_in_trash'] as const

/** Moves a message from the trash to the inbox. @throws Refusal not_in_trash */
export function restoreMessage(deps: MoveDeps, caller: Caller, id: string, reservation?: Reservation) {
  const folder = 'inbox' as const
  return changeMessage(deps, caller, id, { change: { folder }, from: 'trash', response: { id, folder } }, reservation)
}

export function starMessage(deps: MoveDeps, caller: Caller, id: string, starred: boolean, reservation?: Reservation) {
  return changeMessage(
    deps,
    caller,
    id,
    { change: { starred: starred ? 1 : 0 }, response: { id, starred } },
    reservation,
  )
}

export function markMessage(deps: MoveDeps, caller: Caller, id: string, read: boolean, reservation?: Reservation) {
  return changeMessage(deps, caller, id, { change: { is_read: read ? 1 : 0 }, response: { id, read } }, reservation)
}

interface MessageChangeRequest<Body> {
  readonly change: MessageChange
  /** The folder that the message must be in. */
  readonly from?: 'trash'
  readonly response: Body
}

function changeMessage<Body extends object>(
  { db, beforeMove }: MoveDeps,
  caller: Caller,
  id: string,
  { change, from, response }: MessageChangeRequest<Body>,
  reservation: Reservation | undefined,
): Promise<Body> {
  return inTransaction(db, async tx => {
    const message = await requireMessage(tx, caller, id)
    const where = from === undefined ? {} : { folder: from }
    const { organizationId } = caller
    if (change.folder !== undefined)
      await beforeMove?.(tx, { organizationId, ids: [message.id], folder: change.folder })
    const changed = await updateMessage(tx, organizationId, message.id, change, where)
    if (!changed && from !== undefined)
      throw refuse('not_in_trash', { message: `The message ${id} is in ${message.folder}, not in trash.` })
    await storeResponse(tx, reservation, { status: 200, body: response })
    return response
  })
}

/** What SPF, DKIM, DMARC and ARC gave when the message came. */
export function verdictsOf({ verdicts }: Pick<MessageDetailRow, 'verdicts'>): Verdicts {
  return fromJson(verdicts) as Verdicts
}
