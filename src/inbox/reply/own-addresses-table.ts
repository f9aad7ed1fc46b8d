import type { BrandTenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'

/** The brand's mailboxes with these local parts at those of the domains that receive mail; an empty local part: a catch-all. */
export async function selectReceivingAddresses(
  db: Db,
  { organizationId, brandId }: BrandTenant,
  { domains, localParts }: { readonly domains: readonly string[]; readonly localParts: readonly string[] },
): Promise<readonly { readonly domain: string; readonly local_part: string }[]> {
  if (domains.length === 0) return []
  return await db
    .selectFrom('domains')
    .innerJoin('receiving_claims', 'receiving_claims.domain_id', 'domains.id')
    .innerJoin('mailboxes', 'mailboxes.domain_id', 'domains.id')
    .select(['domains.domain', 'mailboxes.local_part'])
    .where('domains.organization_id', '=', organizationId)
    .where('domains.domain', 'in', domains)
    .where('receiving_claims.identity_verified', '=', 1)
    .where('mailboxes.brand_id', '=', brandId)
    .where('mailboxes.local_part', 'in', localParts)
    .execute()
}
