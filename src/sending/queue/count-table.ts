import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

/** How many recipients are still to be submitted; each is one of held, in flight, due and later. */
export interface QueueCount {
  readonly total: number
  /** Held by the operator. */
  readonly held: number
  /** Claimed by a relay. */
  readonly inFlight: number
  /** To be claimed now. */
  readonly due: number
  /** To be claimed later: scheduled, or waiting for another attempt. */
  readonly later: number
  /** Since when the recipient that is due longest has been due; null: none is due. */
  readonly oldestDueAt: Instant | null
  /** When the oldest that was attempted, and is not held, was accepted; null: none was attempted. */
  readonly oldestTriedAt: Instant | null
}

interface CountRow extends Record<Exclude<keyof QueueCount, 'oldestDueAt' | 'oldestTriedAt'>, string> {
  readonly oldestDueAt: Instant | null
  readonly oldestTriedAt: Instant | null
}

/** The columns of {@link QueueCount}. */
function counts(now: Instant) {
  return sql`COUNT(*) AS total,
    COALESCE(SUM(held_at IS NOT NULL), 0) AS held,
    COALESCE(SUM(held_at IS NULL AND due_at > ${now} AND lease IS NOT NULL), 0) AS inFlight,
    COALESCE(SUM(held_at IS NULL AND due_at <= ${now}), 0) AS due,
    COALESCE(SUM(held_at IS NULL AND due_at > ${now} AND lease IS NULL), 0) AS later,
    MIN(CASE WHEN held_at IS NULL AND due_at <= ${now} THEN due_at END) AS oldestDueAt,
    MIN(CASE WHEN held_at IS NULL AND attempts > 0 THEN created_at END) AS oldestTriedAt`
}

/** Counts the queue of all organizations; the cost grows with the queue. */
export async function countQueue(db: Db, now: Instant): Promise<QueueCount> {
  const { rows } = await sql<CountRow>`SELECT ${counts(now)} FROM outbox`.execute(db)
  return toQueueCount(rows[0] as CountRow)
}

/** The queue to one domain. */
export interface DestinationCount extends QueueCount {
  readonly destination: string
}

/** The `limit` domains with the longest queues, the longest first. */
export async function countDestinations(db: Db, now: Instant, limit: number): Promise<readonly DestinationCount[]> {
  const { rows } = await sql<CountRow & { readonly destination: string }>`SELECT destination, ${counts(now)}
    FROM outbox GROUP BY destination ORDER BY total DESC, destination LIMIT ${sql.lit(limit)}`.execute(db)
  return rows.map(row => ({ destination: row.destination, ...toQueueCount(row) }))
}

/** The queue of one organization. */
export interface OrganizationCount extends QueueCount {
  readonly organizationId: Id<'org'>
  readonly name: string
}

/** The `limit` organizations with the longest queues, the longest first. */
export async function countQueuedOrganizations(
  db: Db,
  now: Instant,
  limit: number,
): Promise<readonly OrganizationCount[]> {
  const { rows } = await sql<CountRow & Pick<OrganizationCount, 'organizationId' | 'name'>>`
    SELECT q.*, o.name FROM (SELECT organization_id AS organizationId, ${counts(now)}
      FROM outbox GROUP BY organization_id ORDER BY total DESC LIMIT ${sql.lit(limit)}) AS q
    INNER JOIN organizations o ON o.id = q.organizationId ORDER BY q.total DESC, q.organizationId`.execute(db)
  return rows.map(row => ({ organizationId: row.organizationId, name: row.name, ...toQueueCount(row) }))
}

function toQueueCount({ total, held, inFlight, due, later, oldestDueAt, oldestTriedAt }: CountRow): QueueCount {
  return {
    total: Number(total),
    held: Number(held),
    inFlight: Number(inFlight),
    due: Number(due),
    later: Number(later),
    oldestDueAt,
    oldestTriedAt,
  }
}
