import { networkMatcher } from '../../base/networks.ts'
import type { Resolver } from '../../ports/resolver/port.ts'

/** Networks that cannot be reached from the Internet (RFC 6890), such as those of containers and homes. */
const privateNetworks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::/127',
  'fc00::/7',
  'fe80::/10',
]

export const isPrivateAddress: (address: string) => boolean = networkMatcher(privateNetworks)

/** The addresses of a name in DNS; `failed`: why a lookup failed, else null. */
export async function resolveAddresses(
  resolver: Resolver,
  name: string,
): Promise<{ readonly addresses: readonly string[]; readonly failed: string | null }> {
  const answers = await Promise.all([
    resolver.resolve(name, 'A', { bypassCache: true }),
    resolver.resolve(name, 'AAAA', { bypassCache: true }),
  ])
  const addresses = answers.flatMap(answer => (answer.kind === 'found' ? answer.records : []))
  const failed = answers.flatMap(answer => (answer.kind === 'failed' ? [answer.why] : []))[0] ?? null
  return { addresses, failed }
}

/** The name of the PTR record of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string): string {
  if (!address.includes(':')) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  const [left = '', right] = address.split('::')
  const groups = (text: string) => text.split(':').filter(group => group !== '')
  const [before, after] = [groups(left), groups(right ?? '')]
  const zeros = right === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  const digits = [...before, ...zeros, ...after].map(group => group.padStart(4, '0')).join('')
  return `${[...digits].reverse().join('.')}.ip6.arpa`
}
