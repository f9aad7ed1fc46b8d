import { isIPv6 } from 'node:net'

/**
 * The network that clients are limited by: an IPv4 address, or the /64 of an IPv6 address, which is the least that one
 * customer gets.
 */
export function clientNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  // A dotted quad at the end stands for two groups; it is never among the first four unless :: is absent before it.
  const afterGroups = after.length + (after.at(-1)?.includes('.') ? 1 : 0)
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - afterGroups)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map(group => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}
