import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import { type Flag, folders } from '../../../base/database/schema.ts'
import { placeholders, selectRows } from '../../../base/database/select-rows.ts'
import type { Id } from '../../../base/ids.ts'

/** A part of what an organization has, and a digest that changes with it. */
export interface DigestRow {
  readonly organization_id: Id<'org'>
  /** Names the part, such as a minute. A part that is in one answer and not in the next has grown too old, or is empty. */
  readonly part: string
  readonly digest: string
}

/** At most so many rows of an organization, or of an instance, are looked at. */
const maxRows = 2000

/** A text that differs when the value of a row does, or their number. To MySQL BIT_XOR's result is bytes, and all it is part of. */
const digestOf = (value: string) => `CONCAT(COUNT(*), ' ', CAST(BIT_XOR(CRC32(${value})) AS CHAR))`

/**
 * The messages received since, by minute and folder: ranges of one index, which holds all that is read. A message that is
 * committed late, among later ones, changes the digest of its minute.
 * @param since the beginning of a minute
 */
export async function selectMessageDigests(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  since: Instant,
): Promise<readonly DigestRow[]> {
  const newest = organizationIds.flatMap(() =>
    folders.map(
      folder => `(SELECT organization_id, folder, received_at, id FROM messages FORCE INDEX (messages_organization)
        WHERE organization_id = ? AND folder = '${folder}' AND received_at >= ? ORDER BY received_at DESC, id DESC LIMIT ${maxRows})`,
    ),
  )
  const parameters = organizationIds.flatMap(id => folders.flatMap(() => [id, since]))
  return selectRows<DigestRow>(
    db,
    `SELECT organization_id, CONCAT(folder, ' ', LEFT(received_at, 16)) AS part,
        ${digestOf('id')} AS digest
      FROM (${newest.join(' UNION ALL ')}) recent GROUP BY organization_id, part`,
    parameters,
  )
}

/** The length of the beginning of an id that stays the same for 32.8 seconds: prefix, and 35 of the 50 bits of its time. */
export const idPartLength = 'evt_'.length + 7

/**
 * The events of emails since, by their ids' time: a range of the primary key, the newest of the instance.
 * @param since the beginning of an id, as long as {@link idPartLength}
 */
export function selectEmailDigests(
  db: Db,
  organizationIds: readonly Id<'org'>[],
  since: string,
): Promise<readonly DigestRow[]> {
  return selectRows<DigestRow>(
    db,
    `SELECT organization_id, LEFT(id, ${idPartLength}) AS part, ${digestOf('id')} AS digest
      FROM (SELECT organization_id, id FROM email_events WHERE id >= ? ORDER BY id DESC LIMIT ${maxRows}) recent
      WHERE organization_id IN (${placeholders(organizationIds)}) GROUP BY organization_id, part`,
    [since, ...organizationIds],
  )
}

/** The domains of each organization: those that exist, and what was last found of them. */
export function selectDomainDigests(db: Db, organizationIds: readonly Id<'org'>[]): Promise<readonly DigestRow[]> {
  return selectRows<DigestRow>(
    db,
    `SELECT organization_id, 'all' AS part,
        ${digestOf("CONCAT_WS(' ', id, status, ownership_verified, last_checked_at)")} AS digest
      FROM domains WHERE organization_id IN (${placeholders(organizationIds)}) GROUP BY organization_id`,
    organizationIds,
  )
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
