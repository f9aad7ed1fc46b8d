import { inTransaction } from '../../base/database/database.ts'
import { deleteEvents } from '../../events/table.ts'
import { type RetentionFeedRow, selectFeedEventsAfter, selectFeedEventsAt } from './event-feed-table.ts'
import type { RetainedItem, RetentionTarget } from './target.ts'

/** The events of the feed. A reader who has not read them by then is told that they are gone. */
export const eventFeedTarget: RetentionTarget = {
  kind: 'event_feed',
  name: 'event_feed',
  batchSize: 500,
  async selectAfter(db, after, _before, limit) {
    const rows = await selectFeedEventsAfter(db, after || '0', limit)
    return rows.map(toRetainedItem)
  },
  selectByIds: async (db, ids) => (await selectFeedEventsAt(db, ids)).map(toRetainedItem),
  async clear({ db }, items) {
    const rows = await selectFeedEventsAt(
      db,
      items.map(item => item.id),
    )
    const numbered = rows.flatMap(({ organization_id: organizationId, sequence }) =>
      sequence === null ? [] : [{ organizationId, sequence: Number(sequence) }],
    )
    await inTransaction(db, tx => deleteEvents(tx, numbered))
    return rows.filter(row => row.sequence === null).map(row => String(row.position))
  },
}

function toRetainedItem(row: RetentionFeedRow): RetainedItem {
  return {
    position: String(row.position),
    id: String(row.position),
    organizationId: row.organization_id,
    // The feed is one sequence for all brands of an organization: none of them can have a shorter one.
    brandId: null,
    enteredAt: row.created_at,
    retainedFrom: row.created_at,
    bytes: Number(row.bytes),
    isCleared: false,
    isInUse: row.sequence === null,
  }
}
