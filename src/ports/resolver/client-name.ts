import type { Resolver } from './port.ts'

/** The name of the PTR record of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string): string {
  if (!address.includes(':')) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  const groups = groupsOf(address)
  return `${[...groups.join('')].reverse().join('.')}.ip6.arpa`
}

/** The eight groups of an IPv6 address, each with four digits. */
function groupsOf(address: string): readonly string[] {
  const [left = '', right] = address.toLowerCase().split('::')
  const groups = (text: string) => text.split(':').filter(group => group !== '')
  const [before, after] = [groups(left), groups(right ?? '')]
  const zeros = right === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].map(group => group.padStart(4, '0'))
}

/** A client with more names is asked for no others (RFC 8601 §3 recommends a limit). */
const maxNames = 5

/**
 * The name of a client whose PTR record leads to it and whose addresses lead back (iprev, RFC 8601 §3); null: it has none, or
 * DNS did not answer before `signal` fired.
 */
export async function findClientName(resolver: Resolver, address: string, signal: AbortSignal): Promise<string | null> {
  const answer = await resolver.resolve(reverseName(address), 'PTR', { signal })
  if (answer.kind !== 'found') return null
  const names = await Promise.all(
    answer.records
      .slice(0, maxNames)
      .map(async name => ((await leadsBack(resolver, name, address, signal)) ? name : null)),
  )
  return names.find(name => name !== null) ?? null
}

async function leadsBack(resolver: Resolver, name: string, address: string, signal: AbortSignal): Promise<boolean> {
  if (!address.includes(':')) {
    const answer = await resolver.resolve(name, 'A', { signal })
    return answer.kind === 'found' && answer.records.includes(address)
  }
  const answer = await resolver.resolve(name, 'AAAA', { signal })
  const groups = groupsOf(address).join()
  return answer.kind === 'found' && answer.records.some(record => groupsOf(record).join() === groups)
}
