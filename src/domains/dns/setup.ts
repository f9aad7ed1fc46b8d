import type { Tenant } from '../../api/tenant.ts'
import { toIso } from '../../base/clock.ts'
import type { DomainDeps } from '../deps.ts'
import { domainViewRefusals, loadDomainView } from '../domain-view.ts'
import { domainRefusals, loadDomain } from '../load-domain.ts'
import { checkOwnership } from '../ownership.ts'
import { toJsonRecord } from '../schema.ts'
import type { DnsSetupJson } from './schema.ts'
import { findZone } from './zone-access.ts'

/** The refusals of {@link getDnsSetup}. */
export const dnsSetupRefusals = [...domainRefusals, ...domainViewRefusals, 'dns_provider_error'] as const

/**
 * What is to stand in DNS for a domain, and who could publish it. Ownership is looked up now; of the other records it says
 * what the last check saw.
 * @throws Refusal `not_found`, `brand_restricted`, `dns_provider_error`. A look-up that fails makes the ownership record
 * `unknown`.
 */
export async function getDnsSetup(deps: DomainDeps, tenant: Tenant, id: string): Promise<DnsSetupJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const [proof, zone, details] = await Promise.all([
    checkOwnership(deps.resolver, tenant.organizationId, domain.domain),
    deps.zone && findZone(deps.zone, domain.domain),
    loadDomainView(deps, domain),
  ])
  const { receiving } = details
  return {
    domain_id: domain.id,
    ownership: {
      verified: proof.status === 'verified',
      record: toJsonRecord(proof.record, proof.status, proof.found),
      checked_at: toIso(deps.clock.now()),
    },
    dns_provider: { configured: deps.zone !== null, name: deps.zone?.name ?? null, zone: zone?.apex ?? null },
    records: [...details.dns_records, ...receiving.identity.dns_records, receiving.mx.record],
  }
}
