import { isIP, isIPv4 } from 'node:net'
import { networkMatcher } from '../../../base/networks.ts'
import type { Resolver } from '../../../ports/resolver/port.ts'
import { type AddressRule, refusedAddress } from './address-rules.ts'

/** What deliveries may go to beyond the public Internet; see MAILROOM_WEBHOOK_ALLOW and MAILROOM_WEBHOOK_HTTP. */
export interface DestinationPolicy {
  /** Addresses and networks (`10.1.0.0/16`) that are allowed although they are not public. */
  readonly allowedNetworks: readonly string[]
  /** Is `http:` allowed too? */
  readonly allowsHttp: boolean
}

/** The rule that refuses a destination, by its name in API responses. */
export type DestinationRule = 'url' | 'scheme' | 'credentials' | 'no_address' | AddressRule

/** Why a destination is refused; `message` is a sentence that names the rule. */
export interface RefusedDestination {
  readonly kind: 'refused'
  readonly rule: DestinationRule
  readonly message: string
}

/** A destination that was checked: connections are made to `address` and to nothing else. */
export interface CheckedDestination {
  readonly kind: 'allowed'
  readonly url: URL
  readonly address: string
}

/** The name could not be looked up just now. */
interface UnresolvedDestination {
  readonly kind: 'unresolved'
  readonly message: string
}

export const maxUrlLength = 2048

/** A URL that has the form of a webhook's, or why it is refused. No name is looked up. */
export function readDestinationUrl(
  text: string,
  { allowsHttp }: Pick<DestinationPolicy, 'allowsHttp'>,
): URL | RefusedDestination {
  const url = text.length <= maxUrlLength ? URL.parse(text) : null
  if (!url) return refused('url', `it is not a URL of at most ${maxUrlLength} characters`)
  const schemes = allowsHttp ? ['https:', 'http:'] : ['https:']
  if (!schemes.includes(url.protocol)) return refused('scheme', `it does not start with ${schemes.join('// or ')}//`)
  if (url.username !== '' || url.password !== '')
    return refused('credentials', 'it holds a user name or password; use `headers` for an Authorization')
  // An absolute name and its relative form are the same host.
  url.hostname = url.hostname.replace(/\.$/, '')
  url.hash = ''
  return url
}

/**
 * Looks the host up and checks every address that it has; one that is refused refuses all. What it gives is to be used at
 * once: the next delivery is checked again.
 */
export async function checkDestination(
  url: URL,
  policy: DestinationPolicy,
  resolver: Resolver,
  signal?: AbortSignal,
): Promise<CheckedDestination | RefusedDestination | UnresolvedDestination> {
  const host = hostOf(url)
  const found = isIP(host) === 0 ? await lookUp(host, resolver, signal) : [host]
  if (!Array.isArray(found)) return found as RefusedDestination | UnresolvedDestination
  const isAllowed = networkMatcher(policy.allowedNetworks)
  for (const address of found) {
    const refusal = isAllowed(address) ? null : refusedAddress(address)
    if (refusal)
      return refused(
        refusal.rule,
        `${address === host ? address : `${host} is ${address}, which`} is in ${refusal.network}, and webhooks go to public addresses only`,
      )
  }
  return { kind: 'allowed', url, address: chooseAddress(found) }
}

/** One of the addresses, another at each attempt; of the IPv4 ones where there are any, since not every network has IPv6. */
function chooseAddress(addresses: readonly string[]): string {
  const ipv4 = addresses.filter(address => isIPv4(address))
  const choices = ipv4.length > 0 ? ipv4 : addresses
  return choices[Math.floor(Math.random() * choices.length)] ?? ''
}

/** The host of a URL as a name or an address, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

async function lookUp(
  host: string,
  resolver: Resolver,
  signal: AbortSignal | undefined,
): Promise<string[] | RefusedDestination | UnresolvedDestination> {
  const options = signal ? { signal } : {}
  const answers = await Promise.all([resolver.resolve(host, 'A', options), resolver.resolve(host, 'AAAA', options)])
  const addresses = answers.flatMap(answer => (answer.kind === 'found' ? answer.records : []))
  const failure = answers.find(answer => answer.kind === 'failed')
  // Where one of the two failed, an address may be missing that would be refused.
  if (failure) return { kind: 'unresolved', message: `${host} could not be looked up in DNS: ${failure.why}` }
  if (addresses.length === 0) return refused('no_address', `${host} has no address in DNS`)
  return addresses
}

function refused(rule: DestinationRule, because: string): RefusedDestination {
  return { kind: 'refused', rule, message: `The URL is refused by the rule \`${rule}\`: ${because}.` }
}
