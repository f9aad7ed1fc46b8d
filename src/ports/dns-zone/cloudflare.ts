import type { CloudflareAddress } from './cloudflare-client.ts'
import type { DnsZone } from './port.ts'

/** The zones at Cloudflare, opened when they are first needed: the library takes half a second and 30 MB to load. */
export function cloudflareZones(address: CloudflareAddress): DnsZone {
  let opened: Promise<DnsZone> | undefined
  const open = () => {
    opened ??= import('./cloudflare-zones.ts').then(({ openCloudflare }) => openCloudflare(address))
    return opened
  }
  return {
    name: 'cloudflare',
    zoneOf: async domain => (await open()).zoneOf(domain),
    trouble: async () => (await open()).trouble(),
  }
}
