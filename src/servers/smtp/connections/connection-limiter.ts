import { clientNetwork } from '../../../base/client-network.ts'
import type { SmtpRefusalCode } from '../../../receiving/smtp-refusal.ts'
import { type ListenerKind, sessionsOpen } from '../metrics.ts'

/** Limits the sessions at once, in total and by the client's network. */
export interface ConnectionLimiter {
  /** Counts a session from this address; or gives the refusal. A counted session has to be released once. */
  acquire(address: string): SmtpRefusalCode | undefined
  release(address: string): void
}

export function openConnectionLimiter(
  limits: { readonly total: number; readonly perNetwork: number },
  listener: ListenerKind = 'mx',
): ConnectionLimiter {
  const byNetwork = new Map<string, number>()
  let total = 0
  return {
    acquire(address) {
      const network = clientNetwork(address)
      const count = byNetwork.get(network) ?? 0
      if (count >= limits.perNetwork) return 'too_many_sessions_from_address'
      if (total >= limits.total) return 'too_many_sessions'
      byNetwork.set(network, count + 1)
      total++
      sessionsOpen.inc({ listener })
      return undefined
    },
    release(address) {
      const network = clientNetwork(address)
      const count = (byNetwork.get(network) ?? 1) - 1
      if (count === 0) byNetwork.delete(network)
      else byNetwork.set(network, count)
      total--
      sessionsOpen.dec({ listener })
    },
  }
}
