import { isIPv4, isIPv6 } from 'node:net'

/** Why an address is refused as the destination of a webhook: the kind of address, and the network that it is in. */
export interface RefusedAddress {
  readonly rule: AddressRule
  /** In CIDR notation; of an IPv4 address inside an IPv6 one, that of the IPv4 address. */
  readonly network: string
}

/** The kinds of addresses that are not on the public Internet. */
export type AddressRule =
  | 'unspecified'
  | 'private'
  | 'shared'
  | 'loopback'
  | 'link_local'
  | 'metadata'
  | 'multicast'
  | 'reserved'
  | 'documentation'

/** The special-purpose registries of IANA (RFC 6890), and where clouds serve metadata. The first that matches names the rule. */
const rules: readonly (readonly [rule: AddressRule, ...networks: readonly string[]])[] = [
  // 169.254.169.254: most clouds; 168.63.129.16: Azure; 100.100.100.200: Alibaba; 192.0.0.192: Oracle; fd00:ec2::254: AWS.
  ['metadata', '169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::254/128'],
  ['unspecified', '0.0.0.0/8', '::/128'],
  ['loopback', '127.0.0.0/8', '::1/128'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10', '64:ff9b:1::/48'],
  ['shared', '100.64.0.0/10'],
  ['link_local', '169.254.0.0/16', 'fe80::/10'],
  ['multicast', '224.0.0.0/4', 'ff00::/8'],
  ['documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  ['reserved', '192.0.0.0/24', '192.88.99.0/24', '198.18.0.0/15', '240.0.0.0/4', '2001::/23', '100::/64', '5f00::/16'],
]

interface ParsedNetwork extends RefusedAddress {
  readonly bytes: readonly number[]
  readonly bits: number
}

const networks: readonly ParsedNetwork[] = rules.flatMap(([rule, ...texts]) =>
  texts.map(network => {
    const [address = '', bits] = network.split('/')
    return { rule, network, bytes: bytesOf(address) ?? [], bits: Number(bits) }
  }),
)

const globalUnicast: ParsedNetwork = { rule: 'reserved', network: '2000::/3', bytes: bytesOf('2000::') ?? [], bits: 3 }

/**
 * Why nothing may be delivered to this address; null: it is a public one. An IPv4 address inside an IPv6 one (mapped, NAT64,
 * 6to4, ISATAP; RFC 4291 §2.5.5, RFC 6052, RFC 3056, RFC 5214) counts like itself.
 * @param address as text; anything that is not an address is refused
 */
export function refusedAddress(address: string): RefusedAddress | null {
  const bytes = bytesOf(address)
  if (!bytes) return { rule: 'reserved', network: address.slice(0, 60) }
  const network = networks.find(network => isInNetwork(bytes, network))
  if (network) return { rule: network.rule, network: network.network }
  if (bytes.length === 4) return null
  const inner = embeddedIpv4(bytes)
  if (inner) return refusedAddress(inner.join('.'))
  return isInNetwork(bytes, globalUnicast) ? null : { rule: 'reserved', network: '::/0' }
}

/** The IPv4 address that an IPv6 address leads to, where it has a form that does. */
function embeddedIpv4(bytes: readonly number[]): readonly number[] | undefined {
  const startsWith = (...prefix: readonly number[]) => prefix.every((byte, i) => bytes[i] === byte)
  const zeros = (count: number) => Array<number>(count).fill(0)
  // ::ffff:a.b.c.d, and the deprecated ::a.b.c.d and ::ffff:0:a.b.c.d.
  if (startsWith(...zeros(10), 0xff, 0xff) || startsWith(...zeros(12)) || startsWith(...zeros(8), 0xff, 0xff, 0, 0))
    return bytes.slice(12)
  if (startsWith(0, 0x64, 0xff, 0x9b, ...zeros(8))) return bytes.slice(12)
  if (startsWith(0x20, 0x02)) return bytes.slice(2, 6)
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe)
    return bytes.slice(12)
  return undefined
}

function isInNetwork(
  bytes: readonly number[],
  { bytes: prefix, bits }: Pick<ParsedNetwork, 'bytes' | 'bits'>,
): boolean {
  if (bytes.length !== prefix.length) return false
  const whole = Math.floor(bits / 8)
  const rest = 8 - (bits % 8)
  return (
    prefix.slice(0, whole).every((byte, i) => bytes[i] === byte) &&
    (rest === 8 || (bytes[whole] ?? 0) >> rest === (prefix[whole] ?? 0) >> rest)
  )
}

/** The 4 or 16 bytes of an address; undefined: it is none, or has a zone. */
function bytesOf(address: string): readonly number[] | undefined {
  if (isIPv4(address)) return address.split('.').map(Number)
  if (!isIPv6(address) || address.includes('%')) return undefined
  const [head = '', tail] = address.split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const zeros = Array<number>(tail === undefined ? 0 : 16 - before.length - after.length).fill(0)
  return [...before, ...zeros, ...after]
}

/** The bytes of groups of an IPv6 address, of which the last may be an IPv4 address. */
function groupsOf(text: string): readonly number[] {
  if (text === '') return []
  return text.split(':').flatMap(group => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
