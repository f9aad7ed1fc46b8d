import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { padToPowerOfTwo } from '../../../base/database/select-rows.ts'
import type { Id } from '../../../base/ids.ts'
import type { EventFilter } from '../../table.ts'

/** The first sequence at or after `sequence`, and when its event was recorded; undefined: there is none. */
async function selectRecordedAt(
  db: Db,
  sequence: number,
): Promise<{ readonly sequence: number; readonly at: Instant } | undefined> {
  const row = await db
    .selectFrom('event_numbers')
    .innerJoin('events', 'events.position', 'event_numbers.position')
    .select(['event_numbers.sequence', 'events.created_at'])
    .where('event_numbers.sequence', '>=', sequence)
    .orderBy('event_numbers.sequence')
    .limit(sql.lit(1))
    .executeTakeFirst()
  return row && { sequence: Number(row.sequence), at: row.created_at }
}

/**
 * A sequence before which no event was recorded at `from` or later, by bisection: events have no index of their times, which
 * follow their sequences but for the duration of transactions.
 * @param from some minutes before the first event that is looked for
 * @param last the newest sequence
 */
export async function findSequenceAt(db: Db, from: Instant, last: number): Promise<number> {
  let low = 0
  let high = last + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = await selectRecordedAt(db, middle)
    if (found && found.at < from) low = found.sequence + 1
    else high = middle
  }
  return low
}

/** An event that may be replayed. */
export interface ReplayCandidate {
  readonly id: Id<'evt'>
  readonly sequence: number
  readonly type: string
  readonly brand_id: Id<'brd'> | null
  readonly created_at: Instant
}

/** What to replay: of the events that match the webhook, those recorded in this time. */
export interface ReplaySelection extends EventFilter {
  readonly webhookId: Id<'whk'>
  readonly from: Instant
  readonly to: Instant
  readonly onlyFailed: boolean
}

/** At most `limit` of the selected events from a sequence on, through another, in order. */
export async function selectReplayCandidates(
  db: Db,
  { webhookId, organizationId, types, brandId, mailboxIds, keepsOthers, from, to, onlyFailed }: ReplaySelection,
  { first, through, limit }: { readonly first: number; readonly through: number; readonly limit: number },
): Promise<readonly ReplayCandidate[]> {
  let query = db
    .selectFrom('event_numbers')
    .innerJoin('events', 'events.position', 'event_numbers.position')
    .select(['events.id', 'event_numbers.sequence', 'events.type', 'events.brand_id', 'events.created_at'])
    .where('event_numbers.organization_id', '=', organizationId)
    .where('event_numbers.sequence', '>=', first)
    .where('event_numbers.sequence', '<=', through)
    .where('events.created_at', '>=', from)
    .where('events.created_at', '<', to)
  if (types) query = query.where('events.type', 'in', padToPowerOfTwo(types))
  if (brandId != null) query = query.where('events.brand_id', '=', brandId)
  if (mailboxIds)
    query = query.where(({ or, eb }) =>
      or([
        eb('events.mailbox_id', 'in', padToPowerOfTwo(mailboxIds)),
        ...(keepsOthers ? [eb('events.mailbox_id', 'is', null)] : []),
      ]),
    )
  if (onlyFailed)
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_deliveries')
          .select('webhook_deliveries.id')
          .where('webhook_deliveries.webhook_id', '=', webhookId)
          .whereRef('webhook_deliveries.sequence', '=', 'event_numbers.sequence')
          .where('webhook_deliveries.status', '=', 'failed'),
      ),
    )
  const rows = await query.orderBy('event_numbers.sequence').limit(sql.lit(limit)).execute()
  return rows.map(row => ({ ...row, sequence: Number(row.sequence) }))
}
