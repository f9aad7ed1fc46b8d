import { requireBrand, requireBrandRefusals, type Tenant } from '../api/tenant.ts'
import type { Db } from '../base/database/database.ts'
import { isId } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import { type DomainRow, selectDomain } from './table.ts'

/** The refusals of {@link loadDomain}. */
export const domainRefusals = ['not_found', ...requireBrandRefusals] as const

/**
 * The domain with this id.
 * @param param the request parameter that holds the id, when it is not the path
 * @throws Refusal `not_found` when the organization has no such domain, `brand_restricted` when it is another brand's
 */
export async function loadDomain(db: Db, tenant: Tenant, id: string, param?: string): Promise<DomainRow> {
  const domain = isId('dom', id) ? await selectDomain(db, tenant.organizationId, id) : undefined
  if (!domain)
    throw refuse('not_found', { message: `There is no domain ${id}.`, ...(param === undefined ? {} : { param }) })
  requireBrand(tenant, domain.brand_id, { of: `the domain ${id}`, param })
  return domain
}
