import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { SuppressionRow } from './table.ts'

/** Which automatic suppressions belong to an incident; an absent field matches all. */
export interface SuppressionIncident {
  readonly organizationId?: Id<'org'>
  /** Only on the list of this brand of the organization. */
  readonly brandId?: Id<'brd'>
  /** Text that the reply or report that caused it contains, in any case. */
  readonly reply?: string
  /** The provider that delivered the email that caused it. */
  readonly provider?: string
  /** When it was created: at or after `from`, and before `to`. */
  readonly from?: Instant
  readonly to?: Instant
}

/** A suppression, with what caused it. */
export type CausedSuppression = Pick<
  SuppressionRow,
  | 'id'
  | 'organization_id'
  | 'brand_id'
  | 'email'
  | 'reason'
  | 'evidence'
  | 'source_email_id'
  | 'created_at'
  | 'unsubscribed_at'
>

/** The suppressions with ids after `after`, up to and including `last`. */
export interface SuppressionSpan {
  readonly after: string
  readonly last: Id<'sup'>
  readonly count: number
}

/** The next `limit` suppressions after an id, of the incident or not; undefined: there are no more. */
export async function selectNextSpan(
  db: Db,
  { organizationId }: SuppressionIncident,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<SuppressionSpan | undefined> {
  const from = organizationId === undefined ? sql`` : sql`AND organization_id = ${organizationId}`
  const index = sql.raw(organizationId === undefined ? 'PRIMARY' : 'suppressions_organization')
  const { rows } = await sql<{ readonly id: Id<'sup'> }>`SELECT id FROM suppressions FORCE INDEX (${index})
    WHERE id > ${after} ${from} ORDER BY id LIMIT ${sql.lit(limit)}`.execute(db)
  const ids = rows.map(row => row.id)
  const last = ids.at(-1)
  return last && { after, last, count: ids.length }
}

/** The suppressions of the incident in a span, by id; with `lock`, locked until the transaction ends. */
export async function selectIncidentSuppressions(
  db: Db,
  { organizationId, brandId, reply, provider, from, to }: SuppressionIncident,
  { after, last, lock }: SuppressionSpan & { readonly lock: boolean },
): Promise<readonly CausedSuppression[]> {
  const conditions = [
    sql`id > ${after} AND id <= ${last} AND reason IN ('hard_bounce', 'complaint')`,
    ...(organizationId === undefined ? [] : [sql`organization_id = ${organizationId}`]),
    ...(brandId === undefined ? [] : [sql`brand_id = ${brandId}`]),
    ...(from === undefined ? [] : [sql`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql`created_at < ${to}`]),
    // LOCATE knows no wildcards, so that `100%` is found literally.
    ...(reply === undefined ? [] : [sql`LOCATE(LOWER(${reply}), LOWER(evidence)) > 0`]),
    ...(provider === undefined
      ? []
      : [
          sql`EXISTS (SELECT 1 FROM emails WHERE emails.id = suppressions.source_email_id AND emails.provider = ${provider})`,
        ]),
  ]
  // Forced: a scan of the table would wait for whatever row of it is locked.
  const index = sql.raw(organizationId === undefined ? 'PRIMARY' : 'suppressions_organization')
  const { rows } =
    await sql<CausedSuppression>`SELECT id, organization_id, brand_id, email, reason, evidence, source_email_id,
      created_at, unsubscribed_at
    FROM suppressions FORCE INDEX (${index}) WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY id ${lock ? sql`FOR UPDATE` : sql``}`.execute(db)
  return rows
}

/** Deletes these suppressions; that a recipient unsubscribed besides stays. Locks no other rows. */
export async function deleteAutomaticSuppressions(db: Db, ids: readonly Id<'sup'>[]): Promise<void> {
  if (ids.length === 0) return
  const these = sql`id IN (${sql.join(ids)})`
  await sql`UPDATE suppressions FORCE INDEX (PRIMARY)
    SET reason = 'unsubscribe', source_email_id = NULL, evidence = NULL, created_at = unsubscribed_at, expires_at = NULL,
      unsubscribed_at = NULL
    WHERE ${these} AND unsubscribed_at IS NOT NULL`.execute(db)
  await sql`DELETE suppressions FROM suppressions FORCE INDEX (PRIMARY)
    WHERE ${these} AND reason <> 'unsubscribe'`.execute(db)
}
