import type { Db } from '../base/database/database.ts'
import { refuse } from '../base/refusal.ts'
import type { Instance } from './dns/records.ts'
import { type DomainShape, domainShape, type ReceivingShape, receivingShape } from './schema.ts'
import { type ClaimRow, claimsOf, type DomainRow, domainById, type RecordRow, recordsOf } from './table.ts'

/** The domains as the API shows them, in the order given; two look-ups however many they are. */
export async function describeDomains(
  use: { readonly db: Db; readonly instance: Instance },
  domains: readonly DomainRow[],
): Promise<DomainShape[]> {
  const { records, claims } = await around(use.db, domains)
  return domains.map(domain => domainShape(domain, records.get(domain.id) ?? [], claims.get(domain.id), use.instance))
}

/** The domain as it stands now. */
export async function describeDomain(
  use: { readonly db: Db; readonly instance: Instance },
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
): Promise<DomainShape> {
  const [shape] = await describeDomains(use, [await fresh(use.db, domain)])
  if (!shape) throw gone(domain.id)
  return shape
}

/** What the domain receives as it stands now. `problem`: see receivingShape. */
export async function describeReceiving(
  use: { readonly db: Db; readonly instance: Instance },
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
  problem?: string,
): Promise<ReceivingShape> {
  const row = await fresh(use.db, domain)
  const { records, claims } = await around(use.db, [row])
  return receivingShape(row, claims.get(row.id), records.get(row.id) ?? [], use.instance, problem)
}

async function fresh(db: Db, domain: Pick<DomainRow, 'id' | 'organization_id'>): Promise<DomainRow> {
  const row = await domainById(db, domain.organization_id, domain.id)
  if (!row) throw gone(domain.id)
  return row
}

function gone(id: string) {
  return refuse('not_found', { message: `There is no domain ${id}.` })
}

async function around(db: Db, domains: readonly DomainRow[]) {
  const ids = domains.map(each => each.id)
  const [records, claims] = await Promise.all([recordsOf(db, ids), claimsOf(db, ids)])
  return {
    records: Map.groupBy<DomainRow['id'], RecordRow>(records, each => each.domain_id),
    claims: new Map<DomainRow['id'], ClaimRow>(claims.map(each => [each.domain_id, each])),
  }
}
