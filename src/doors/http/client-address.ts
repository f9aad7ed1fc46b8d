import { BlockList, isIP } from 'node:net'

/**
 * A function that gives the client's address, of what the connection and the request say: the nearest one in
 * X-Forwarded-For that is not a proxy of ours, where the connection comes from such a one; else the connection's own.
 * @param proxies IP addresses and networks (`10.0.0.0/8`)
 */
export function clientAddresses(proxies: readonly string[]): (peer: string, headers: Headers) => string {
  if (proxies.length === 0) return unmapped
  const ours = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    if (bits === undefined) ours.addAddress(address, familyOf(address))
    else ours.addSubnet(address, Number(bits), familyOf(address))
  }
  return (peer, headers) => {
    let client = unmapped(peer)
    const said = (headers.get('x-forwarded-for') ?? '').split(',').reverse()
    for (const each of said) {
      const address = withoutPort(each.trim())
      if (!ours.check(client, familyOf(client)) || isIP(address) === 0) return client
      client = unmapped(address)
    }
    return client
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

function withoutPort(text: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}

/** An IPv4 address as such where a listener for both wrote it as an IPv6 one. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
}

/** What addresses are counted by: an IPv4 address, or the /64 of an IPv6 one (a host has all of it). */
export function addressGroup(address: string): string {
  const plain = unmapped(address)
  if (!plain.includes(':')) return plain
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right]
    .slice(0, 4)
    .map(each => Number.parseInt(each, 16).toString(16))
    .join(':')
}
