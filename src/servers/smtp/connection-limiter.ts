import { isIPv6 } from 'node:net'
import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'
import { sessionsOpen } from './metrics.ts'

/** Counts sessions, in all and by the network they come from. */
export interface ConnectionLimiter {
  /** Takes a session from this address in, or says why not. What was taken in is to be released once. */
  acquire(address: string): SmtpRefusalCode | undefined
  release(address: string): void
}

export function openConnectionLimiter(limits: {
  readonly inAll: number
  readonly perAddress: number
}): ConnectionLimiter {
  const byNetwork = new Map<string, number>()
  let inAll = 0
  return {
    acquire(address) {
      const network = networkOf(address)
      const here = byNetwork.get(network) ?? 0
      if (here >= limits.perAddress) return 'too_many_sessions_from_address'
      if (inAll >= limits.inAll) return 'too_many_sessions'
      byNetwork.set(network, here + 1)
      inAll++
      sessionsOpen.inc()
      return undefined
    },
    release(address) {
      const network = networkOf(address)
      const here = (byNetwork.get(network) ?? 1) - 1
      if (here === 0) byNetwork.delete(network)
      else byNetwork.set(network, here)
      inAll--
      sessionsOpen.dec()
    },
  }
}

/** Who counts as one: an IPv4 address, or the /64 of an IPv6 address, since one customer gets at least that. */
export function networkOf(address: string): string {
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
