import { isIP } from 'node:net'
import { canonicalDomain } from '../../mail/address.ts'
import type { Resolver } from '../../ports/resolver/port.ts'

const maxHosts = 20

/**
 * The first of `servers`, as a report names them, that is a mail exchanger of `domain`: one of its MX hosts by name or by
 * address or, without any, the domain itself (RFC 5321 §5.1). Null: none is, or DNS does not answer before `signal` fires.
 */
export async function findExchanger(
  resolver: Resolver,
  domain: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const named = servers.flatMap(server => readServer(server) ?? [])
  if (named.length === 0) return null
  const hosts = await exchangersOf(resolver, domain, signal)
  if (hosts.length === 0) return null
  const byName = named.find(value => hosts.includes(value))
  if (byName !== undefined) return byName
  const addresses = named.filter(value => isIP(value) > 0)
  if (addresses.length === 0) return null
  const theirs = (await Promise.all(hosts.map(host => addressesOf(resolver, host, signal)))).flat()
  return addresses.find(address => theirs.includes(address)) ?? null
}

/** The mail exchangers of a domain; none when it accepts no mail (RFC 7505) or DNS does not answer. */
async function exchangersOf(resolver: Resolver, domain: string, signal: AbortSignal): Promise<readonly string[]> {
  const answer = await resolver.resolve(domain, 'MX', { signal })
  switch (answer.kind) {
    case 'found':
      return answer.records
        .map(record => record.exchange)
        .filter(value => value !== '' && value !== '.')
        .slice(0, maxHosts)
    case 'none': {
      const implicit = answer.why === 'nodata' && (await addressesOf(resolver, domain, signal)).length > 0
      return implicit ? [domain] : []
    }
    case 'failed':
      return []
    default:
      return answer satisfies never
  }
}

async function addressesOf(resolver: Resolver, host: string, signal: AbortSignal): Promise<readonly string[]> {
  const answers = await Promise.all([
    resolver.resolve(host, 'A', { signal }),
    resolver.resolve(host, 'AAAA', { signal }),
  ])
  return answers.flatMap(answer => (answer.kind === 'found' ? answer.records.map(canonicalAddress) : []))
}

/** The name of a server, lower case and without a final dot, or its address; undefined: it is neither. RFC 3464 §2.1.2. */
function readServer(text: string): string | undefined {
  const [, literal] = /^\s*\[(?:IPv6:)?([0-9a-f.:]+)\]/i.exec(text) ?? []
  const address = literal ?? text.trim()
  if (isIP(address) > 0) return canonicalAddress(address)
  const [word = ''] = text.trim().split(/[\s(;[]/, 1)
  return canonicalDomain(word.replace(/\.$/, ''))
}

function canonicalAddress(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address
}
