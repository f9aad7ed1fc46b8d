import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { appendEvents } from '../events/append-events.ts'
import type { InstanceDnsSettings } from './dns/records.ts'
import { loadDomainView } from './domain-view.ts'
import type { DomainRow } from './table.ts'

/** Writes an event about a domain, as it is now in the caller's transaction. Its records are left out where they are too large. */
export async function appendDomainEvent(
  deps: { readonly db: Db; readonly instance: InstanceDnsSettings },
  type: 'domain.verified' | 'domain.failed' | 'domain.receiving_live',
  domain: Pick<DomainRow, 'id' | 'organization_id' | 'brand_id'>,
  at: Instant,
): Promise<void> {
  const view = await loadDomainView(deps, domain)
  await appendEvents(deps.db, [
    {
      type,
      organizationId: domain.organization_id,
      brandId: domain.brand_id,
      occurredAt: at,
      data: view,
      shortened: () => ({ ...view, dns_records: [], receiving: { ...view.receiving, dns_records: [] } }),
    },
  ])
}
