import type { Db } from '../base/database/database.ts'
import { type EventFilter, type SequencedEvent, selectEventsIn, selectLastSequence, selectSequenceAt } from './table.ts'

/** What a reader asks for. */
export interface EventSelection extends EventFilter {
  /** The events after this sequence. */
  readonly after: number
  /** None after this sequence; absent: up to the newest. */
  readonly through?: number | undefined
  /** At most so many. */
  readonly limit: number
}

/** Events, in order. */
export interface EventsRead {
  readonly events: readonly SequencedEvent[]
  /** Read as far as this: where to go on from. Also where nothing matched, so that a reader of rare events is never too late. */
  readonly through: number
  /** False: there may be more already. */
  readonly isEnd: boolean
}

/** So many events of the organization are looked through for those that match, however many there are. */
const maxLookedAt = 5000

/** The events after a sequence that match, without gaps: none appears later with a sequence up to `through`. */
export async function selectEvents(db: Db, selection: EventSelection): Promise<EventsRead> {
  const { after, limit } = selection
  // Asked first: all events up to it can be seen by then.
  const last = await selectLastSequence(db)
  const end = Math.min(last, selection.through ?? last)
  if (end <= after) return { events: [], through: after, isEnd: true }
  const stop = isFiltered(selection)
    ? await selectSequenceAt(db, selection.organizationId, { after, through: end }, maxLookedAt - 1)
    : undefined
  const through = stop ?? end
  const events = await selectEventsIn(db, selection, { after, through }, limit)
  const newest = events.at(-1)
  if (newest && events.length === limit) return { events, through: newest.sequence, isEnd: newest.sequence === end }
  return { events, through, isEnd: through === end }
}

function isFiltered({ types, brandId, mailboxIds }: EventFilter): boolean {
  return types !== undefined || brandId != null || mailboxIds !== undefined
}
