import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Endpoint } from '../../base/config/config.ts'

/** The servers that `/etc/resolv.conf` names, in its order; the machine itself where it names none (resolv.conf(5)). */
export function systemServers(file = '/etc/resolv.conf'): readonly Endpoint[] {
  const servers = serversIn(readIfThere(file))
  return servers.length > 0 ? servers : [{ host: '127.0.0.1', port: 53 }]
}

function serversIn(text: string): readonly Endpoint[] {
  return text
    .split('\n')
    .map(line => /^nameserver\s+(\S+)/.exec(line)?.[1])
    .filter(host => host !== undefined && isIP(host) !== 0)
    .map(host => ({ host: host ?? '', port: 53 }))
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
