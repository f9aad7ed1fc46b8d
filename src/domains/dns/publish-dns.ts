import type { Tenant } from '../../api/tenant.ts'
import { applyCheckResults, checkSenderRecords } from '../check.ts'
import type { DomainDeps } from '../deps.ts'
import { ensureSenderSetup, toExpectedRecord } from '../enrolment.ts'
import { domainRefusals, loadDomain } from '../load-domain.ts'
import { checkOwnership, ownershipRefusals, requireOwnership } from '../ownership.ts'
import { checkClaim } from '../receiving-claim.ts'
import { type DnsRecordJson, toJsonRecord, toJsonStoredRecord } from '../schema.ts'
import { type DomainRecordRow, type DomainRow, selectRecords, updateDomain } from '../table.ts'
import { type PublishResult, publishToZone } from './publish.ts'
import { byPurpose, type ExpectedRecord } from './records.ts'
import type { PublicationJson } from './schema.ts'
import { openZone, zoneRefusals } from './zone-access.ts'

/** The refusals of {@link publishDns}. */
export const publishDnsRefusals = [...domainRefusals, ...zoneRefusals, ...ownershipRefusals] as const

/**
 * Publishes the domain's records, but MX, in its zone, and looks at once at what DNS says of them. Repeating it changes
 * nothing more.
 * @throws Refusal `not_found`, `brand_restricted`, `dns_provider_not_configured`, `dns_zone_not_accessible`,
 * `dns_provider_error`, `ownership_not_verified`, `dns_unavailable`.
 */
export async function publishDns(deps: DomainDeps, tenant: Tenant, id: string): Promise<PublicationJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const { zone } = await openZone(deps.zone, domain.domain)
  const proof = await checkOwnership(deps.resolver, tenant.organizationId, domain.domain)
  await applyCheckResults(deps, domain, proof, [])
  requireOwnership(proof)
  const isEnrolled = await ensureSenderSetup(deps, domain)
  const records = (await selectRecords(deps.db, [domain.id])).toSorted(byPurpose)
  const publication = await publishToZone(zone, domain.id, records.map(toExpectedRecord))
  if (isEnrolled) await updateDomain(deps.db, domain.id, { provider_error: null })
  await applyCheckResults(deps, domain, proof, await checkSenderRecords(deps, domain))
  await checkClaim(deps, domain)
  return show(domain, publication, await selectRecords(deps.db, [domain.id]))
}

function show(domain: DomainRow, publication: PublishResult, rows: readonly DomainRecordRow[]): PublicationJson {
  const shape = (record: ExpectedRecord): DnsRecordJson => {
    const row = rows.find(row => row.purpose === record.purpose && row.name === record.name && row.type === record.type)
    return row ? toJsonStoredRecord(row) : toJsonRecord(record, 'pending', [])
  }
  return {
    domain_id: domain.id,
    published: publication.published.map(shape),
    unchanged: publication.unchanged.map(shape),
    conflicts: publication.conflicts.map(({ record, existing, reason }) => ({
      record: shape(record),
      existing: existing.map(({ type, name, value, ttlSeconds, priority }) => ({
        type,
        name,
        value,
        ttl: ttlSeconds,
        priority,
      })),
      reason,
    })),
  }
}
