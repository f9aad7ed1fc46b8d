import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { insertRows } from '../../base/database/insert-rows.ts'
import type { DatabaseSchema } from '../../base/database/schema.ts'
import { executeUpdate, padToPowerOfTwo, selectRows } from '../../base/database/select-rows.ts'
import type { Id } from '../../base/ids.ts'
import type { Reservation } from './reservation.ts'

export type IdempotencyRow = DatabaseSchema['idempotency_keys']

/** An Idempotency-Key belongs to an organization. */
export type IdempotencyKeyRef = Pick<IdempotencyRow, 'organization_id' | 'idempotency_key'>

/** The rows of these keys; does not wait for transactions that are writing them. */
export function selectIdempotencyKeys(db: Db, keys: readonly IdempotencyKeyRef[]): Promise<IdempotencyRow[]> {
  const padded = padToPowerOfTwo(keys)
  return selectRows<IdempotencyRow>(
    db,
    `SELECT organization_id, idempotency_key, fingerprint, token, leased_until, status, answer, created_at
     FROM idempotency_keys WHERE ${padded.map(() => '(organization_id = ? AND idempotency_key = ?)').join(' OR ')}`,
    padded.flatMap(key => [key.organization_id, key.idempotency_key]),
  )
}

/** Inserts the rows whose key has no row yet; gives how many. Sorted, so that two statements cannot deadlock. */
export function insertIdempotencyKeys(db: Db, rows: readonly IdempotencyRow[]): Promise<number> {
  const inOrder = rows.toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1))
  return insertRows(db, 'idempotency_keys', padToPowerOfTwo(inOrder), 'ignore')
}

function sortKeyOf(key: IdempotencyKeyRef): string {
  return `${key.organization_id} ${key.idempotency_key}`
}

/** Replaces the row `old` by `row`; false when `old` has changed meanwhile. */
export async function updateIdempotencyKey(db: Db, old: IdempotencyRow, row: IdempotencyRow): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('idempotency_keys')
    .set(row)
    .where('organization_id', '=', old.organization_id)
    .where('idempotency_key', '=', old.idempotency_key)
    .where('token', '=', old.token)
    .where('leased_until', '=', old.leased_until)
    .where('status', old.status === null ? 'is' : 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** A response that is to be stored for a reservation. */
export interface StoredResponse {
  readonly reservation: Reservation
  readonly status: number
  /** JSON. */
  readonly body: string
}

/** Stores each response whose token still has its key reserved; gives how many. One statement for all. */
export function updateResponses(db: Db, responses: readonly StoredResponse[]): Promise<number> {
  const padded = padToPowerOfTwo(responses)
  const repeat = (text: string, separator: string) => padded.map(() => text).join(separator)
  const tokens = padded.map(({ reservation }) => reservation.token)
  return executeUpdate(
    db,
    `UPDATE idempotency_keys
     SET status = CASE token ${repeat('WHEN ? THEN ?', ' ')} END, answer = CASE token ${repeat('WHEN ? THEN ?', ' ')} END
     WHERE token IN (${repeat('?', ', ')}) AND status IS NULL
       AND (${repeat('(organization_id = ? AND idempotency_key = ?)', ' OR ')})`,
    [
      ...padded.flatMap(({ reservation, status }) => [reservation.token, status]),
      ...padded.flatMap(({ reservation, body }) => [reservation.token, body]),
      ...tokens,
      ...padded.flatMap(({ reservation }) => [reservation.organizationId, reservation.key]),
    ],
  )
}

/** The tokens of those reservations whose response is stored. */
export async function selectCompletedTokens(
  db: Db,
  reservations: readonly Reservation[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ token: string }>`
    SELECT token FROM idempotency_keys
    WHERE token IN (${sql.join(reservations.map(reservation => reservation.token))}) AND status IS NOT NULL
      AND (${keyConditions(reservations)})
  `.execute(db)
  return new Set(rows.map(row => row.token))
}

/** Frees the key of a reservation, unless its response is stored or another request has taken it over. */
export async function deleteReservation(db: Db, { organizationId, key, token }: Reservation): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key)
    .where('token', '=', token)
    .where('status', 'is', null)
    .execute()
}

/** Moves the end of the leases of these reservations to `until`. */
export async function updateLeases(db: Db, reservations: readonly Reservation[], until: Instant): Promise<void> {
  await sql`
    UPDATE idempotency_keys SET leased_until = ${until}
    WHERE token IN (${sql.join(reservations.map(reservation => reservation.token))}) AND status IS NULL
      AND (${keyConditions(reservations)})
  `.execute(db)
}

/** Deletes at most `limit` rows that were created before `before` and are not reserved; gives how many. */
export async function deleteExpiredKeys(db: Db, before: Instant, now: Instant, limit: number): Promise<number> {
  const result = await sql`
    DELETE FROM idempotency_keys WHERE created_at < ${before} AND leased_until < ${now}
    ORDER BY created_at LIMIT ${sql.lit(limit)}
  `.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

function keyConditions(reservations: readonly { readonly organizationId: Id<'org'>; readonly key: string }[]) {
  return sql.join(
    reservations.map(
      reservation => sql`(organization_id = ${reservation.organizationId} AND idempotency_key = ${reservation.key})`,
    ),
    sql` OR `,
  )
}
