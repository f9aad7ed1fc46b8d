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
 * The DNS records that a domain needs, and the DNS provider that could publish them. Ownership is looked up now; the other
 * records have the status of the last check.
 * @throws Refusal `not_found`, `brand_restricted`, `dns_provider_error`. When the ownership look-up fails, the record's
 * status is `unknown`.
 */
export async function getDnsSetup(deps: DomainDeps, tenant: Tenant, id: string): Promise<DnsSetupJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const [ownership, zone, details] = await Promise.all([
    checkOwnership(deps.resolver, tenant.organizationId, domain.domain),
    deps.dnsProvider && findZone(deps.dnsProvider, domain.domain),
    loadDomainView(deps, domain),
  ])
  const { receiving } = details
  return {
    domain_id: domain.id,
    ownership: {
      verified: ownership.status === 'verified',
      record: toJsonRecord(ownership.record, ownership.status, ownership.found),
      checked_at: toIso(deps.clock.now()),
    },
    dns_provider: {
      configured: deps.dnsProvider !== null,
      name: deps.dnsProvider?.name ?? null,
      zone: zone?.apex ?? null,
    },
    records: [...details.dns_records, ...receiving.identity.dns_records, receiving.mx.record],
  }
}
