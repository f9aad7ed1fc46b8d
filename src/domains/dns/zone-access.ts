import { isDatabaseUnavailable } from '../../base/database/database.ts'
import { refuse } from '../../base/refusal.ts'
import { type DnsProvider, DnsZoneError, type Zone, type ZoneRecord } from '../../ports/dns-zone/port.ts'

/** The zone that holds a domain, and the name of its DNS provider. */
export interface ZoneAccess {
  readonly zone: Zone
  readonly provider: string
}

/** The refusals of {@link openZone} and of every use of the zone. */
export const zoneRefusals = ['dns_provider_not_configured', 'dns_zone_not_accessible', 'dns_provider_error'] as const

/**
 * The zone that holds `domain`. Every later failure of the provider there becomes the refusal `dns_provider_error`.
 * @throws Refusal `dns_provider_not_configured`, `dns_zone_not_accessible`, `dns_provider_error`.
 */
export async function openZone(provider: DnsProvider | null, domain: string): Promise<ZoneAccess> {
  if (provider === null)
    throw refuse('dns_provider_not_configured', {
      message: 'No DNS provider is configured on this server.',
      resolution: "Publish the records at the domain's DNS host, or ask the operator to set MAILROOM_DNS_ZONE.",
    })
  const zone = await findZone(provider, domain)
  if (zone === null)
    throw refuse('dns_zone_not_accessible', {
      message: `This server has no access to a zone at the DNS provider ${provider.name} that holds ${domain}.`,
      resolution: "Publish the records at the domain's DNS host.",
    })
  return { zone, provider: provider.name }
}

/** The zone that holds `domain`; null: there is none. @throws Refusal `dns_provider_error`. */
export async function findZone(provider: DnsProvider, domain: string): Promise<Zone | null> {
  const { name } = provider
  const zone = await withProviderRefusals(name, () => provider.findZone(domain))
  return (
    zone && {
      apex: zone.apex,
      recordsAt: at => withProviderRefusals(name, () => zone.recordsAt(at)),
      recordsUnder: under => withProviderRefusals(name, () => zone.recordsUnder(under)),
      create: (record, mark) => withProviderRefusals(name, () => zone.create(record, mark)),
      update: (id, record, mark, readAs) => withProviderRefusals(name, () => zone.update(id, record, mark, readAs)),
      remove: id => withProviderRefusals(name, () => zone.remove(id)),
    }
  )
}

async function withProviderRefusals<Result>(provider: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (isDatabaseUnavailable(cause)) throw cause
    throw refuse('dns_provider_error', {
      message: `The request to the DNS provider ${provider} failed; try again.`,
      ...(cause instanceof DnsZoneError && { reason: cause.message }),
      retryAfterSeconds: (cause instanceof DnsZoneError && cause.retryAfterSeconds) || 5,
      cause,
    })
  }
}

/** Why a zone did not take a record beside others at its name (RFC 1034 §3.6.2), for a person. */
export function describeConflict({ type, name }: ZoneRecord): string {
  return type === 'CNAME'
    ? `A CNAME record cannot coexist with other records, and ${name} has some.`
    : `${name} has a CNAME record, which cannot coexist with other records.`
}
