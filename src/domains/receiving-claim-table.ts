import type { Selectable } from 'kysely'
import type { Db } from '../base/database/database.ts'
import type { DatabaseSchema } from '../base/database/schema.ts'
import type { Id } from '../base/ids.ts'

export type ReceivingClaimRow = Selectable<DatabaseSchema['receiving_claims']>

const claimColumns = [
  'domain',
  'organization_id',
  'domain_id',
  'identity_verified',
  'identity_error',
  'mx_verified',
  'claimed_at',
  'checked_at',
  'mx_misses',
] as const

/** The receiving claim on this name, of any organization. */
export async function selectClaim(db: Db, domain: string): Promise<ReceivingClaimRow | undefined> {
  return db.selectFrom('receiving_claims').select(claimColumns).where('domain', '=', domain).executeTakeFirst()
}

/** The receiving claims of these domains. */
export async function selectClaims(db: Db, domainIds: readonly Id<'dom'>[]): Promise<readonly ReceivingClaimRow[]> {
  if (domainIds.length === 0) return []
  return db.selectFrom('receiving_claims').select(claimColumns).where('domain_id', 'in', domainIds).execute()
}

/** @throws a duplicate on `PRIMARY` when the name is claimed already */
export async function insertClaim(db: Db, row: ReceivingClaimRow): Promise<void> {
  await db.insertInto('receiving_claims').values(row).execute()
}

export async function updateClaim(
  db: Db,
  domainId: Id<'dom'>,
  change: Partial<
    Pick<ReceivingClaimRow, 'identity_verified' | 'identity_error' | 'mx_verified' | 'mx_misses' | 'checked_at'>
  >,
): Promise<void> {
  await db.updateTable('receiving_claims').set(change).where('domain_id', '=', domainId).execute()
}

/** Has the organization verified a domain with one of these names, for sending or receiving? */
export async function hasVerifiedDomain(db: Db, organizationId: Id<'org'>, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false
  const found = await db
    .selectFrom('domains')
    .leftJoin('receiving_claims', 'receiving_claims.domain_id', 'domains.id')
    .select('domains.id')
    .where('domains.organization_id', '=', organizationId)
    .where('domains.domain', 'in', names)
    .where('domains.ownership_verified', '=', 1)
    .where(expressionBuilder =>
      expressionBuilder.or([
        expressionBuilder('domains.status', '=', 'verified'),
        expressionBuilder('receiving_claims.identity_verified', '=', 1),
      ]),
    )
    .executeTakeFirst()
  return found !== undefined
}
