import { sql } from 'kysely'
import type { Reservation } from '../../../api/idempotency/reservation.ts'
import type { Tenant } from '../../../api/tenant.ts'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'
import type { Id } from '../../../base/ids.ts'

const namesAtOnce = 500
const forgottenAtOnce = 100

/**
 * Those of these names that somebody else registered: another organization or, for a tenant restricted to a brand, another
 * brand.
 */
export async function selectForeignNames(
  db: Db,
  tenant: Tenant,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const { organizationId, brandId } = tenant
  const foreign = new Set<string>()
  for (let start = 0; start < names.length; start += namesAtOnce) {
    const rows = await db
      .selectFrom('domains')
      .select('domain')
      .where('domain', 'in', names.slice(start, start + namesAtOnce))
      .where(expressionBuilder =>
        expressionBuilder.or([
          expressionBuilder('organization_id', '!=', organizationId),
          ...(brandId === null ? [] : [expressionBuilder('brand_id', '!=', brandId)]),
        ]),
      )
      .execute()
    for (const { domain } of rows) foreign.add(domain)
  }
  return foreign
}

/** Those of these domains that are registered, whosever they are: their records are still looked after. */
export async function selectRegisteredIds(db: Db, ids: readonly Id<'dom'>[]): Promise<ReadonlySet<Id<'dom'>>> {
  const registered = new Set<Id<'dom'>>()
  for (let start = 0; start < ids.length; start += namesAtOnce) {
    const rows = await db
      .selectFrom('domains')
      .select('id')
      .where('id', 'in', ids.slice(start, start + namesAtOnce))
      .execute()
    for (const { id } of rows) registered.add(id)
  }
  return registered
}

/** Notes that this request sets out to delete the record, and forgets what was noted before `forgetBefore`. */
export async function insertRemoval(
  db: Db,
  { organizationId, key }: Reservation,
  recordId: Id<'rec'>,
  at: Instant,
  forgetBefore: Instant,
): Promise<void> {
  await db
    .insertInto('dns_removals')
    .values({ organization_id: organizationId, idempotency_key: key, record_id: recordId, created_at: at })
    .onDuplicateKeyUpdate({ created_at: at })
    .execute()
  await db
    .deleteFrom('dns_removals')
    .where('created_at', '<', forgetBefore)
    .orderBy('created_at')
    .limit(sql.lit(forgottenAtOnce))
    .execute()
}

/** Did a request with this key set out to delete the record, and not finish? */
export async function hasRemoval(db: Db, { organizationId, key }: Reservation, recordId: string): Promise<boolean> {
  const found = await db
    .selectFrom('dns_removals')
    .select('record_id')
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key)
    .where('record_id', '=', recordId as Id<'rec'>)
    .executeTakeFirst()
  return found !== undefined
}

export async function deleteRemoval(db: Db, { organizationId, key }: Reservation, recordId: string): Promise<void> {
  await db
    .deleteFrom('dns_removals')
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key)
    .where('record_id', '=', recordId as Id<'rec'>)
    .execute()
}
