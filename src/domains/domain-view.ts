import type { Db } from '../base/database/database.ts'
import { refuse } from '../base/refusal.ts'
import type { InstanceDnsSettings } from './dns/records.ts'
import { type DomainRecordRow, selectRecords } from './dns/table.ts'
import { type ReceivingClaimRow, selectClaims } from './receiving-claim-table.ts'
import { type DomainJson, type ReceivingJson, toJsonDomain, toJsonReceiving } from './schema.ts'
import { type DomainRow, selectDomain } from './table.ts'

/** The domains in API responses, in the order given, with two queries in all. */
export async function loadDomainViews(
  deps: { readonly db: Db; readonly instance: InstanceDnsSettings },
  domains: readonly DomainRow[],
): Promise<DomainJson[]> {
  const { records, claims } = await loadRecordsAndClaims(deps.db, domains)
  return domains.map(domain => toJsonDomain(domain, records.get(domain.id) ?? [], claims.get(domain.id), deps.instance))
}

/** The refusals of a view of a domain that has just been deleted. */
export const domainViewRefusals = ['not_found'] as const

/** The domain in API responses, as the database has it now. */
export async function loadDomainView(
  deps: { readonly db: Db; readonly instance: InstanceDnsSettings },
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
): Promise<DomainJson> {
  const [json] = await loadDomainViews(deps, [await reloadDomain(deps.db, domain)])
  if (!json) throw noDomain(domain.id)
  return json
}

/** The domain's receiving status, as the database has it now. @param problem see {@link toJsonReceiving} */
export async function loadReceivingView(
  deps: { readonly db: Db; readonly instance: InstanceDnsSettings },
  domain: Pick<DomainRow, 'id' | 'organization_id'>,
  problem?: string,
): Promise<ReceivingJson> {
  const row = await reloadDomain(deps.db, domain)
  const { records, claims } = await loadRecordsAndClaims(deps.db, [row])
  return toJsonReceiving(row, claims.get(row.id), records.get(row.id) ?? [], deps.instance, problem)
}

async function reloadDomain(db: Db, domain: Pick<DomainRow, 'id' | 'organization_id'>): Promise<DomainRow> {
  const row = await selectDomain(db, domain.organization_id, domain.id)
  if (!row) throw noDomain(domain.id)
  return row
}

function noDomain(id: string) {
  return refuse('not_found', { message: `There is no domain ${id}.` })
}

async function loadRecordsAndClaims(db: Db, domains: readonly DomainRow[]) {
  const ids = domains.map(domain => domain.id)
  const [records, claims] = await Promise.all([selectRecords(db, ids), selectClaims(db, ids)])
  return {
    records: Map.groupBy<DomainRow['id'], DomainRecordRow>(records, record => record.domain_id),
    claims: new Map<DomainRow['id'], ReceivingClaimRow>(claims.map(claim => [claim.domain_id, claim])),
  }
}
