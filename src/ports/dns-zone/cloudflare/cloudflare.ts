import type { DnsProvider } from '../port.ts'
import type { CloudflareAddress } from './client.ts'

/** The zones at Cloudflare, opened when they are first needed: the library takes half a second and 30 MB to load. */
export function cloudflareZones(address: CloudflareAddress): DnsProvider {
  let opened: Promise<DnsProvider> | undefined
  const open = () => {
    opened ??= import('./zones.ts').then(({ openCloudflare }) => openCloudflare(address))
    return opened
  }
  return {
    name: 'cloudflare',
    findZone: async domain => (await open()).findZone(domain),
    checkHealth: async () => (await open()).checkHealth(),
  }
}
