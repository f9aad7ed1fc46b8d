import { BlockList } from 'node:net'

/** A function that tells whether an IP address is one of these addresses or in one of these networks (`10.0.0.0/8`). */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return networks.length === 0
    ? () => false
    : address => {
        const plain = unmapIpv4(address)
        return list.check(plain, familyOf(plain))
      }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`), as dual-stack listeners report them, as IPv4; others unchanged. */
export function unmapIpv4(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
}
