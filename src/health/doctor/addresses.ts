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
