import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database.ts'
import type { Id } from '../../base/ids.ts'
import type { SuppressionRow } from './table.ts'

/** Which automatic suppressions belong to an incident; what is absent narrows nothing. */
export interface Incident {
  readonly organizationId?: Id<'org'>
  /** What the reply or report that caused it holds, in any case. */
  readonly reply?: string
  /** Who delivered the email that caused it. */
  readonly provider?: string
  /** When it was made: from then, and up to but not at. */
  readonly from?: Instant
  readonly to?: Instant
}

type Caused = Pick<
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

/** At most `most` suppressions of the incident after `after`, by id; with `lock`, locked until the transaction ends. */
export async function selectOfIncident(
  db: Db,
  { organizationId, reply, provider, from, to }: Incident,
  { after, most, lock }: { readonly after: string; readonly most: number; readonly lock: boolean },
): Promise<readonly Caused[]> {
  let query = db
    .selectFrom('suppressions')
    .select([
      'suppressions.id',
      'suppressions.organization_id',
      'suppressions.brand_id',
      'suppressions.email',
      'suppressions.reason',
      'suppressions.evidence',
      'suppressions.source_email_id',
      'suppressions.created_at',
      'suppressions.unsubscribed_at',
    ])
    .where('suppressions.id', '>', after as Id<'sup'>)
    .where('suppressions.reason', 'in', ['hard_bounce', 'complaint'])
  if (organizationId !== undefined) query = query.where('suppressions.organization_id', '=', organizationId)
  if (from !== undefined) query = query.where('suppressions.created_at', '>=', from)
  if (to !== undefined) query = query.where('suppressions.created_at', '<', to)
  // LOCATE takes no wildcards, so that `100%` is what it says.
  if (reply !== undefined) query = query.where(sql<boolean>`LOCATE(LOWER(${reply}), LOWER(suppressions.evidence)) > 0`)
  if (provider !== undefined)
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('emails')
          .select('emails.id')
          .whereRef('emails.id', '=', 'suppressions.source_email_id')
          .where('emails.provider', '=', provider),
      ),
    )
  const page = query.orderBy('suppressions.id').limit(sql.lit(most))
  return (lock ? page.forUpdate() : page).execute()
}

/** Takes these off the lists; of those who unsubscribed besides, that stays. */
export async function liftSuppressions(db: Db, ids: readonly Id<'sup'>[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .updateTable('suppressions')
    .set({
      reason: 'unsubscribe',
      source_email_id: null,
      evidence: null,
      created_at: sql<Instant>`unsubscribed_at`,
      expires_at: null,
      unsubscribed_at: null,
    })
    .where('id', 'in', ids)
    .where('unsubscribed_at', 'is not', null)
    .execute()
  await db.deleteFrom('suppressions').where('id', 'in', ids).where('reason', '!=', 'unsubscribe').execute()
}
