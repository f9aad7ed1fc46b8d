import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Endpoint } from '../../../base/config/config.ts'

/** The name servers in `/etc/resolv.conf`, in its order; 127.0.0.1 when it lists none (resolv.conf(5)). */
export function systemServers(file = '/etc/resolv.conf'): readonly Endpoint[] {
  const servers = serversIn(readIfPresent(file))
  return servers.length > 0 ? servers : [{ host: '127.0.0.1', port: 53 }]
}

function serversIn(text: string): readonly Endpoint[] {
  return text
    .split('\n')
    .map(line => /^nameserver\s+(\S+)/.exec(line)?.[1])
    .filter(host => host !== undefined && isIP(host) !== 0)
    .map(host => ({ host: host ?? '', port: 53 }))
}

function readIfPresent(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
