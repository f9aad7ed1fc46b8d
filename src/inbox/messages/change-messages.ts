import type { Caller } from '../../api/caller.ts'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { inTransaction } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import type { MoveDeps } from '../spam-lessons/lessons.ts'
import type { bulkBodySchema, bulkResultSchema } from './schema.ts'
import { type MessageChange, selectVisibleIds, updateMessages } from './table.ts'

/**
 * Changes those of many messages that the caller may see, all in the same way. Returns which they were; the others do not
 * exist or are not the caller's.
 * @throws Refusal invalid_request unless exactly one thing is to be changed
 */
export async function changeMessages(
  { db, beforeMove }: MoveDeps,
  caller: Caller,
  body: typeof bulkBodySchema.static,
  reservation?: Reservation,
): Promise<typeof bulkResultSchema.static> {
  const change = changeOf(body)
  const ids = [...new Set(body.ids)]
  return inTransaction(db, async tx => {
    const visibleIds = await selectVisibleIds(tx, caller, ids.filter(isMessageId))
    const { organizationId } = caller
    if (change.folder !== undefined) await beforeMove?.(tx, { organizationId, ids: visibleIds, folder: change.folder })
    await updateMessages(tx, organizationId, visibleIds, change)
    const visible = new Set<string>(visibleIds)
    const response = { updated: ids.filter(id => visible.has(id)), not_found: ids.filter(id => !visible.has(id)) }
    await storeResponse(tx, reservation, { status: 200, body: response })
    return response
  })
}

function isMessageId(text: string): text is Id<'msg'> {
  return isId('msg', text)
}

function changeOf({ folder, read, starred }: typeof bulkBodySchema.static): MessageChange {
  if ([folder, read, starred].filter(value => value !== undefined).length !== 1)
    throw refuse('invalid_request', { message: 'Give exactly one of folder, read and starred.' })
  if (folder !== undefined) return { folder }
  return read === undefined ? { starred: starred ? 1 : 0 } : { is_read: read ? 1 : 0 }
}
