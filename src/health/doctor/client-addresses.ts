import { readFile } from 'node:fs/promises'
import { dayMs, type Instant, plusMs } from '../../base/clock.ts'
import { pluralize } from '../../base/format.ts'
import { unmapIpv4 } from '../../base/networks.ts'
import { isPrivateAddress } from './addresses.ts'
import type { DoctorCheck } from './check.ts'
import { maxRecentMessages, type RecentClient, selectRecentClients } from './client-addresses-table.ts'
import { error, type Finding, ok, skipped, warning } from './finding.ts'

/** With fewer messages it is likely enough that one server sent them all. */
const minimumMessages = 5
const weekMs = 7 * dayMs

export const clientAddressesCheck: DoctorCheck = {
  name: 'client_addresses',
  area: 'smtp',
  async run({ db, config, clock }) {
    if (!config.roles.includes('smtp')) return skipped('this process does not receive mail (MAILROOM_ROLES)')
    return assessClients(await selectRecentClients(db, maxRecentMessages), {
      gateways: await defaultGateways(),
      hasProxies: (config.smtpProxies ?? []).length > 0,
      since: plusMs(clock.now(), -weekMs),
    })
  },
}

/**
 * Did the messages of the last week come from many clients, or all from one gateway in between? Where Docker or a load
 * balancer hides the client's address, SPF and the limits for each address judge the gateway.
 */
function assessClients(
  clients: readonly RecentClient[],
  where: { readonly gateways: readonly string[]; readonly hasProxies: boolean; readonly since: Instant },
): Finding {
  const recent = clients.filter(client => client.received_at > where.since).map(client => unmapIpv4(client.remote_ip))
  const distinct = [...new Set(recent)]
  const [only = ''] = distinct
  if (recent.length === 0) return skipped('no mail came within a week')
  const seen = `${pluralize(recent.length, 'message')} of the last week, ${distinct.length === 1 ? 'all from one address' : `from ${distinct.length} addresses`}`
  const isOne = distinct.length === 1 && isPrivateAddress(only)
  const looksLikeGateway = where.gateways.includes(only) || /^172\.(1[6-9]|2\d|3[01])\.\d+\.1$/.test(only)
  if (!isOne || (!looksLikeGateway && recent.length < minimumMessages)) return ok(seen)
  const all = `all mail of the last week (${recent.length}) came from ${only}, ${looksLikeGateway ? 'which looks like a gateway of Docker' : 'a private address'}: SPF and the limits judge that address, not the sender’s`
  if (recent.length < minimumMessages) return warning(all, todoForHiddenClients(where.hasProxies))
  return error(all, todoForHiddenClients(where.hasProxies))
}

function todoForHiddenClients(hasProxies: boolean): string {
  return hasProxies
    ? 'Make the load balancer see the addresses of clients: this address is what it sends by the PROXY protocol.'
    : 'Pass on the addresses of clients. Docker: use a network with IPv6 and no userland proxy (see docker/README.md). Load balancer: turn on the PROXY protocol and set MAILROOM_SMTP_PROXIES to its address.'
}

/** The default gateways of this machine or container, IPv4. */
async function defaultGateways(): Promise<readonly string[]> {
  const text = await readFile('/proc/net/route', 'utf8').catch(() => '')
  const routes = text.split('\n').map(line => line.split('\t'))
  return routes
    .filter(route => route[1] === '00000000' && route[2] !== '00000000')
    .map(route =>
      (route[2]?.match(/../g) ?? [])
        .reverse()
        .map(byte => Number.parseInt(byte, 16))
        .join('.'),
    )
}
