import { t } from 'elysia'
import type { Caller } from '../api/caller.ts'
import { nullable } from '../api/common-schemas.ts'
import { decodeCursor, encodeCursor, invalidCursor, pageSize } from '../api/page.ts'
import type { Db } from '../base/database/database.ts'
import { eventCursor } from './cursor.ts'
import { eventFields, toJsonEvent } from './event-json.ts'
import { readEventTypes, visibleTo } from './feed-request.ts'
import { selectEventsIn, selectLastSequence, selectSequenceAt } from './table.ts'

/** A page of the past, newest first. */
export const eventHistorySchema = t.Object(
  {
    data: t.Array(
      t.Object({ ...eventFields, cursor: t.String({ description: 'Where the feed goes on after this event.' }) }),
    ),
    next_cursor: nullable(
      t.String({
        description: 'Gives older events; a page may be empty although there are some. null: there are none.',
      }),
    ),
    after: t.String({ description: 'Where the feed goes on after the newest event of all.' }),
  },
  { title: 'EventHistory' },
)

/** The query parameters of {@link readEventHistory}. */
export interface EventHistoryQuery {
  readonly types?: string
  readonly cursor?: string
  readonly limit?: string
}

/** So many events of the organization are looked through for those that match, however many there are. */
const maxLookedAt = 5000

/**
 * The events that the caller may see, newest first: for people, who look back, as the feed is for programs, which go on.
 * @throws Refusal `invalid_request` for a type that does not exist, `insufficient_scope`, `invalid_cursor`
 */
export async function readEventHistory(
  db: Db,
  caller: Caller,
  { types, cursor, limit }: EventHistoryQuery,
): Promise<typeof eventHistorySchema.static> {
  const filter = visibleTo(caller, { types: readEventTypes(types), brandId: null, mailboxId: null })
  const last = await selectLastSequence(db)
  const through = cursor === undefined ? last : readCursor(cursor)
  const size = pageSize(limit)
  const stop = await selectSequenceAt(db, caller.organizationId, { after: 0, through }, maxLookedAt - 1, 'DESC')
  const range = { after: (stop ?? 1) - 1, through }
  const found = await selectEventsIn(db, filter, range, size + 1, 'DESC')
  const page = found.slice(0, size)
  // Events that were not looked at begin below `stop`.
  const next = found.length > size ? page.at(-1)?.sequence : stop
  return {
    data: page.map(event => ({ ...toJsonEvent(event), cursor: eventCursor(event.sequence) })),
    next_cursor: next === undefined ? null : encodeCursor(String(next - 1)),
    after: eventCursor(last),
  }
}

function readCursor(cursor: string): number {
  const [text = ''] = decodeCursor(cursor, 1)
  if (!/^\d{1,16}$/.test(text)) throw invalidCursor(cursor)
  return Number(text)
}
