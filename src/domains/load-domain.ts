import type { Owner } from '../accounts/brands/brands.ts'
import type { Db } from '../base/database/database.ts'
import { isId } from '../base/ids.ts'
import { refuse } from '../base/refusal.ts'
import { type DomainRow, selectDomain } from './table.ts'

/**
 * The domain with this id.
 * @throws Refusal `not_found` when the organization has none, `brand_restricted` when it is another brand's.
 */
export async function loadDomain(db: Db, owner: Owner, id: string, param?: string): Promise<DomainRow> {
  const domain = isId('dom', id) ? await selectDomain(db, owner.organizationId, id) : undefined
  if (!domain)
    throw refuse('not_found', { message: `There is no domain ${id}.`, ...(param === undefined ? {} : { param }) })
  requireBrand(owner, domain.brand_id, `The domain ${id}`, param)
  return domain
}

/** @throws Refusal `brand_restricted` when `what` belongs to a brand that the owner is not restricted to. */
export function requireBrand(owner: Owner, brandId: string, what: string, param?: string): void {
  if (owner.brandId !== null && owner.brandId !== brandId)
    throw refuse('brand_restricted', {
      message: `${what} belongs to a brand that this key is not for.`,
      ...(param === undefined ? {} : { param }),
    })
}
