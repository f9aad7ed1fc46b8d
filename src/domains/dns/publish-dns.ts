import type { Owner } from '../../accounts/brands/brands.ts'
import { ownDomain } from '../access.ts'
import { keepFindings, lookAtSender } from '../check.ts'
import type { DomainsUse } from '../deps.ts'
import { renewSender, toPublished } from '../enrolment.ts'
import { proveOwnership, requireProof } from '../ownership.ts'
import { refreshClaim } from '../receiving.ts'
import { type RecordShape, recordShape, storedShape } from '../schema.ts'
import { type DomainRow, type RecordRow, recordsOf, updateDomain } from '../table.ts'
import { type Publication, publish } from './publish.ts'
import { byPurpose, type PublishedRecord } from './records.ts'
import type { PublicationShape } from './schema.ts'
import { openZone } from './zone-access.ts'

/**
 * Publishes the domain's records, but MX, in its zone, and looks at once at what DNS says of them. Repeating it changes
 * nothing more.
 * @throws Refusal `not_found`, `brand_restricted`, `dns_provider_not_configured`, `dns_zone_not_accessible`,
 * `dns_provider_error`, `ownership_not_verified`, `dns_unavailable`.
 */
export async function publishDns(use: DomainsUse, owner: Owner, id: string): Promise<PublicationShape> {
  const domain = await ownDomain(use.db, owner, id)
  const { zone } = await openZone(use.zone, domain.domain)
  const proof = await proveOwnership(use.resolver, owner.organizationId, domain.domain)
  await keepFindings(use, domain, proof, [])
  requireProof(proof)
  const isEnrolled = await renewSender(use, domain)
  const records = (await recordsOf(use.db, [domain.id])).toSorted(byPurpose)
  const publication = await publish(zone, domain.id, records.map(toPublished))
  if (isEnrolled) await updateDomain(use.db, domain.id, { provider_error: null })
  await keepFindings(use, domain, proof, await lookAtSender(use, domain))
  await refreshClaim(use, domain)
  return show(domain, publication, await recordsOf(use.db, [domain.id]))
}

function show(domain: DomainRow, publication: Publication, rows: readonly RecordRow[]): PublicationShape {
  const shape = (record: PublishedRecord): RecordShape => {
    const row = rows.find(
      each => each.purpose === record.purpose && each.name === record.name && each.type === record.type,
    )
    return row ? storedShape(row) : recordShape(record, 'pending', [])
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
