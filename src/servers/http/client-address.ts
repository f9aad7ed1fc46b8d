import { isIP } from 'node:net'
import { networkMatcher, unmapIpv4 } from '../../base/networks.ts'

/**
 * A function that gives the address of the client. Where the connection comes from one of our proxies, that is the
 * nearest address in X-Forwarded-For that is not one of them; otherwise the address of the connection.
 * @param proxies IP addresses and networks (`10.0.0.0/8`)
 */
export function clientAddressReader(proxies: readonly string[]): (peer: string, headers: Headers) => string {
  if (proxies.length === 0) return unmapIpv4
  const isProxy = networkMatcher(proxies)
  return (peer, headers) => {
    let client = unmapIpv4(peer)
    const forwardedFor = (headers.get('x-forwarded-for') ?? '').split(',').reverse()
    for (const entry of forwardedFor) {
      const address = withoutPort(entry.trim())
      if (!isProxy(client) || isIP(address) === 0) return client
      client = unmapIpv4(address)
    }
    return client
  }
}

function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}
