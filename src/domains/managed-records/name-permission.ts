import type { Tenant } from '../../api/tenant.ts'
import type { Db } from '../../base/database/database.ts'
import { type Refusal, refuse } from '../../base/refusal.ts'
import { isOwnershipName, isWithin, namesBetween } from './record-name.ts'
import { selectForeignNames } from './table.ts'

/** The refusals of {@link requireAllowedName}. */
export const recordNameRefusals = ['dns_name_not_allowed'] as const

/**
 * Requires that the tenant of `domain` may use a name in its zone, which several tenants may share: a name at or below the
 * domain, except names that prove ownership and names at or below a subdomain that someone else has registered. A wildcard
 * does not apply inside such a subdomain, because its own names exist (RFC 4592 §2.2.1).
 * @throws Refusal `dns_name_not_allowed` for any other name
 */
export async function requireAllowedName(db: Db, tenant: Tenant, domain: string, name: string): Promise<void> {
  if (!isWithin(name, domain))
    throw nameNotAllowed(
      `The name ${name} is neither ${domain} nor below it.`,
      `Give the full name, such as www.${domain}; only a single label, and a name that begins with "_" or "*", may be relative.`,
    )
  if (isOwnershipName(name)) throw nameNotAllowed(`The name ${name} is reserved for proofs of ownership.`)
  const foreign = await selectForeignNames(db, tenant, namesBetween(name, domain))
  if (foreign.size > 0) throw nameNotAllowed(`The name ${name} belongs to a subdomain that is registered separately.`)
}

/** Those of the records that the tenant of `domain` may see. */
export async function allowedRecords<Named extends { readonly name: string }>(
  db: Db,
  tenant: Tenant,
  domain: string,
  records: readonly Named[],
): Promise<readonly Named[]> {
  const near = records.filter(({ name }) => isWithin(name, domain) && !isOwnershipName(name))
  const between = new Set(near.flatMap(({ name }) => namesBetween(name, domain)))
  const foreign = await selectForeignNames(db, tenant, [...between])
  return near.filter(({ name }) => !namesBetween(name, domain).some(value => foreign.has(value)))
}

function nameNotAllowed(message: string, resolution?: string): Refusal {
  return refuse('dns_name_not_allowed', { message, param: 'name', ...(resolution === undefined ? {} : { resolution }) })
}
