import type { Owner } from '../../accounts/brands/brands.ts'
import { toIso } from '../../base/clock.ts'
import { ownDomain } from '../access.ts'
import type { DomainsUse } from '../deps.ts'
import { describeDomain } from '../domain-view.ts'
import { proveOwnership } from '../ownership.ts'
import { recordShape } from '../schema.ts'
import type { DnsSetup } from './schema.ts'
import { findZone } from './zone-access.ts'

/**
 * What is to stand in DNS for a domain, and who could publish it. Ownership is looked up now; of the other records it says
 * what the last check saw.
 * @throws Refusal `not_found`, `brand_restricted`, `dns_provider_error`. A look-up that fails makes the ownership record
 * `unknown`.
 */
export async function readDnsSetup(use: DomainsUse, owner: Owner, id: string): Promise<DnsSetup> {
  const domain = await ownDomain(use.db, owner, id)
  const [proof, zone, details] = await Promise.all([
    proveOwnership(use.resolver, owner.organizationId, domain.domain),
    use.zone && findZone(use.zone, domain.domain),
    describeDomain(use, domain),
  ])
  const { receiving } = details
  return {
    domain_id: domain.id,
    ownership: {
      verified: proof.status === 'verified',
      record: recordShape(proof.record, proof.status, proof.found),
      checked_at: toIso(use.clock.now()),
    },
    dns_provider: { configured: use.zone !== null, name: use.zone?.name ?? null, zone: zone?.apex ?? null },
    records: [...details.dns_records, ...receiving.identity.dns_records, receiving.mx.record],
  }
}
