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

/** The rows of these keys, without waiting for whoever writes them. */
export function selectIdempotencyKeys(db: Db, keys: readonly IdempotencyKeyRef[]): Promise<IdempotencyRow[]> {
  const wanted = padToPowerOfTwo(keys)
  return selectRows<IdempotencyRow>(
    db,
    `SELECT organization_id, idempotency_key, fingerprint, token, leased_until, status, answer, created_at
     FROM idempotency_keys WHERE ${wanted.map(() => '(organization_id = ? AND idempotency_key = ?)').join(' OR ')}`,
    wanted.flatMap(key => [key.organization_id, key.idempotency_key]),
  )
}

/** Makes those rows whose key is free; says how many. In one order, so that two statements never wait for each other. */
export function insertIdempotencyKeys(db: Db, rows: readonly IdempotencyRow[]): Promise<number> {
  const inOrder = rows.toSorted((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1))
  return insertRows(db, 'idempotency_keys', padToPowerOfTwo(inOrder), 'unless there')
}

function sortKeyOf(key: IdempotencyKeyRef): string {
  return `${key.organization_id} ${key.idempotency_key}`
}

/** Puts `row` in the place of the one with the token `old`; false when that one is not there any more. */
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

/** An answer to be kept for a reservation. */
export interface StoredResponse {
  readonly reservation: Reservation
  readonly status: number
  /** JSON. */
  readonly body: string
  readonly at?: Instant
}

/** Stores each answer where its token still holds the key; says how many. One statement for all. */
export function updateResponses(db: Db, answers: readonly StoredResponse[]): Promise<number> {
  const stored = padToPowerOfTwo(answers)
  const each = (text: string, separator: string) => stored.map(() => text).join(separator)
  const tokens = stored.map(({ reservation }) => reservation.token)
  return executeUpdate(
    db,
    `UPDATE idempotency_keys
     SET status = CASE token ${each('WHEN ? THEN ?', ' ')} END, answer = CASE token ${each('WHEN ? THEN ?', ' ')} END
     WHERE token IN (${each('?', ', ')}) AND status IS NULL
       AND (${each('(organization_id = ? AND idempotency_key = ?)', ' OR ')})`,
    [
      ...stored.flatMap(({ reservation, status }) => [reservation.token, status]),
      ...stored.flatMap(({ reservation, body }) => [reservation.token, body]),
      ...tokens,
      ...stored.flatMap(({ reservation }) => [reservation.organizationId, reservation.key]),
    ],
  )
}

/** Of these tokens, those that hold a key with an answer. */
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

/** Gives the key back, unless it has an answer or someone else holds it. */
export async function deleteReservation(db: Db, { organizationId, key, token }: Reservation): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key)
    .where('token', '=', token)
    .where('status', 'is', null)
    .execute()
}

export async function updateLeases(db: Db, reservations: readonly Reservation[], until: Instant): Promise<void> {
  await sql`
    UPDATE idempotency_keys SET leased_until = ${until}
    WHERE token IN (${sql.join(reservations.map(reservation => reservation.token))}) AND status IS NULL
      AND (${keyConditions(reservations)})
  `.execute(db)
}

/** Deletes at most `most` rows that are older than `before` and held by nobody; says how many. */
export async function deleteExpiredKeys(db: Db, before: Instant, now: Instant, most: number): Promise<number> {
  const result = await sql`
    DELETE FROM idempotency_keys WHERE created_at < ${before} AND leased_until < ${now}
    ORDER BY created_at LIMIT ${sql.lit(most)}
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
