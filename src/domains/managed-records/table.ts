import { sql } from 'kysely'
import type { Reservation } from '../../api/idempotency/reservation.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'

const namesPerQuery = 500
const deletedPerCall = 100

/**
 * Those of these names that someone else has registered as a domain: another organization or, for a tenant restricted to a
 * brand, another brand.
 */
export async function selectForeignNames(
  db: Db,
  tenant: Tenant,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const { organizationId, brandId } = tenant
  const foreign = new Set<string>()
  for (let start = 0; start < names.length; start += namesPerQuery) {
    const rows = await db
      .selectFrom('domains')
      .select('domain')
      .where('domain', 'in', names.slice(start, start + namesPerQuery))
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

/** Those of these domains that are still registered, in any organization. */
export async function selectRegisteredIds(db: Db, ids: readonly Id<'dom'>[]): Promise<ReadonlySet<Id<'dom'>>> {
  const registered = new Set<Id<'dom'>>()
  for (let start = 0; start < ids.length; start += namesPerQuery) {
    const rows = await db
      .selectFrom('domains')
      .select('id')
      .where('id', 'in', ids.slice(start, start + namesPerQuery))
      .execute()
    for (const { id } of rows) registered.add(id)
  }
  return registered
}

/** Records that this request is about to delete the record, and deletes such entries from before `deleteBefore`. */
export async function insertRemoval(
  db: Db,
  { organizationId, key }: Reservation,
  recordId: Id<'rec'>,
  at: Instant,
  deleteBefore: Instant,
): Promise<void> {
  await db
    .insertInto('dns_removals')
    .values({ organization_id: organizationId, idempotency_key: key, record_id: recordId, created_at: at })
    .onDuplicateKeyUpdate({ created_at: at })
    .execute()
  await db
    .deleteFrom('dns_removals')
    .where('created_at', '<', deleteBefore)
    .orderBy('created_at')
    .limit(sql.lit(deletedPerCall))
    .execute()
}

/** Did an earlier request with this Idempotency-Key start to delete the record without finishing? */
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
