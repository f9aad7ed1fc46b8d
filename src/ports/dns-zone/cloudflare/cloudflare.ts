import type { DnsProvider } from '../port.ts'
import type { CloudflareAddress } from './client.ts'

/** Zones at Cloudflare. The library takes half a second and 30 MB to load, so it is loaded with the first request. */
export function cloudflareZones(address: CloudflareAddress): DnsProvider {
  let loaded: Promise<DnsProvider> | undefined
  const load = () => {
    loaded ??= import('./zones.ts').then(({ openCloudflare }) => openCloudflare(address))
    return loaded
  }
  return {
    name: 'cloudflare',
    findZone: async domain => (await load()).findZone(domain),
    checkHealth: async () => (await load()).checkHealth(),
  }
}
