import type { Tenant } from '../../../api/tenant.ts'
import type { Db } from '../../../base/database/database.ts'
import { type Refusal, refuse } from '../../../base/refusal.ts'
import { isOwnershipName, isWithin, namesBetween } from './record-name.ts'
import { selectForeignNames } from './table.ts'

/** The refusals of {@link requireAllowedName}. */
export const recordNameRefusals = ['dns_name_not_allowed'] as const

/**
 * Which names the tenant of `domain` may see and touch in its zone, which others share: those equal to or below the domain,
 * but neither those by which ownership is proven, nor those at or below a longer domain that somebody else registered. A
 * wildcard never reaches into such a domain, whose own names are nearer (RFC 4592 §2.2.1).
 * @throws Refusal `dns_name_not_allowed` for any other name.
 */
export async function requireAllowedName(db: Db, tenant: Tenant, domain: string, name: string): Promise<void> {
  if (!isWithin(name, domain))
    throw notAllowed(
      `The name ${name} is not ${domain}, nor below it.`,
      `Give a name relative to ${domain}, or in full.`,
    )
  if (isOwnershipName(name)) throw notAllowed(`The name ${name} is kept for proofs of ownership.`)
  const foreign = await selectForeignNames(db, tenant, namesBetween(name, domain))
  if (foreign.size > 0) throw notAllowed(`The name ${name} belongs to a longer domain that is registered by itself.`)
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

function notAllowed(message: string, resolution?: string): Refusal {
  return refuse('dns_name_not_allowed', { message, param: 'name', ...(resolution === undefined ? {} : { resolution }) })
}
