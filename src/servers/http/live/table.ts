import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { Flag } from '../../../base/database/schema.ts'
import { padToPowerOfTwo, placeholders, selectRows } from '../../../base/database/select-rows.ts'
import type { Id } from '../../../base/ids.ts'
import type { EventType } from '../../../events/event-types.ts'

/** A text that differs when the value of a row does, or their number. To MySQL BIT_XOR's result is bytes, and all it is part of. */
const digestOf = (value: string) => `CONCAT(COUNT(*), ' ', CAST(BIT_XOR(CRC32(${value})) AS CHAR))`

/** Organizations in one statement. */
const maxAtOnce = 32

/**
 * A digest of the domains of each organization: those that exist, and what was last found of them. Of a check that changed
 * nothing there is no event.
 */
export async function selectDomainDigests(
  db: Db,
  organizationIds: readonly Id<'org'>[],
): Promise<ReadonlyMap<Id<'org'>, string>> {
  const digests = new Map(organizationIds.map(id => [id, '']))
  for (let at = 0; at < organizationIds.length; at += maxAtOnce) {
    const ids = padToPowerOfTwo(organizationIds.slice(at, at + maxAtOnce))
    const rows = await selectRows<{ readonly organization_id: Id<'org'>; readonly digest: string }>(
      db,
      `SELECT organization_id, ${digestOf("CONCAT_WS(' ', id, status, ownership_verified, last_checked_at)")} AS digest
        FROM domains WHERE organization_id IN (${placeholders(ids)}) GROUP BY organization_id`,
      ids,
    )
    for (const row of rows) digests.set(row.organization_id, row.digest)
  }
  return digests
}

/** The newest tasks of operators, with how far they have come. */
export async function selectTaskDigest(db: Db): Promise<string> {
  const [row] = await selectRows<{ readonly digest: string }>(
    db,
    `SELECT ${digestOf("CONCAT_WS(' ', id, progress, finished_at)")} AS digest
      FROM (SELECT id, progress, finished_at FROM operator_tasks ORDER BY id DESC LIMIT 30) newest`,
    [],
  )
  return row?.digest ?? ''
}

/** So many of an organization's newest events are looked at. */
const maxRecent = 200

/** The types of an organization's events since. */
export async function selectRecentTypes(
  db: Db,
  organizationId: Id<'org'>,
  since: Instant,
): Promise<readonly EventType[]> {
  const rows = await selectRows<{ readonly type: EventType }>(
    db,
    `SELECT DISTINCT e.type FROM (SELECT position FROM event_numbers FORCE INDEX (event_numbers_organization)
        WHERE organization_id = ? ORDER BY sequence DESC LIMIT ${maxRecent}) newest
      STRAIGHT_JOIN events e ON e.position = newest.position WHERE e.created_at >= ?`,
    [organizationId, since],
  )
  return rows.map(row => row.type)
}

/** A session whose person hears of changes, in one of the organizations that they are a member of (null: of none). */
export interface ListenerRow {
  readonly session_id: Id<'ses'>
  readonly expires_at: Instant
  readonly last_used_at: Instant
  readonly organization_id: Id<'org'> | null
  readonly is_operator: Flag
}

/** Those of these sessions that were not ended, one row for each membership. */
export function selectListeners(db: Db, sessionIds: readonly Id<'ses'>[]): Promise<readonly ListenerRow[]> {
  return selectRows<ListenerRow>(
    db,
    `SELECT s.id AS session_id, s.expires_at, s.last_used_at, m.organization_id,
        EXISTS (SELECT 1 FROM operators o WHERE o.user_id = s.user_id) AS is_operator
      FROM sessions s LEFT JOIN members m ON m.user_id = s.user_id WHERE s.id IN (${placeholders(sessionIds)})`,
    sessionIds,
  )
}
