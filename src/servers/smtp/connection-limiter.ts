import { isIPv6 } from 'node:net'
import type { SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'
import { sessionsOpen } from './metrics.ts'

/** Limits the sessions at once, in total and by the client's network. */
export interface ConnectionLimiter {
  /** Counts a session from this address; or gives the refusal. A counted session has to be released once. */
  acquire(address: string): SmtpRefusalCode | undefined
  release(address: string): void
}

export function openConnectionLimiter(limits: {
  readonly total: number
  readonly perNetwork: number
}): ConnectionLimiter {
  const byNetwork = new Map<string, number>()
  let total = 0
  return {
    acquire(address) {
      const network = networkOf(address)
      const count = byNetwork.get(network) ?? 0
      if (count >= limits.perNetwork) return 'too_many_sessions_from_address'
      if (total >= limits.total) return 'too_many_sessions'
      byNetwork.set(network, count + 1)
      total++
      sessionsOpen.inc()
      return undefined
    },
    release(address) {
      const network = networkOf(address)
      const count = (byNetwork.get(network) ?? 1) - 1
      if (count === 0) byNetwork.delete(network)
      else byNetwork.set(network, count)
      total--
      sessionsOpen.dec()
    },
  }
}

/** The network of a client: an IPv4 address, or the /64 of an IPv6 address, the least that one customer gets. */
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
