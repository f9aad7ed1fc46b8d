import { LRUCache } from 'lru-cache'
import type { InboundRecipient } from './incoming-message.ts'

type FindRecipient = (address: string) => Promise<InboundRecipient>

const maxRecipients = 20
const maxAgeMs = 1000

/**
 * Looks recipients up for one SMTP session. Who was found within the last second is not looked up again: a client with many
 * messages for one mailbox sends them one after the other. That the mailbox still exists is checked when a message is filed.
 */
export function sessionRecipients(find: FindRecipient): FindRecipient {
  const found = new LRUCache<string, InboundRecipient>({ max: maxRecipients, ttl: maxAgeMs })
  return async address => {
    const known = found.get(address)
    if (known) return known
    const recipient = await find(address)
    found.set(address, recipient)
    return recipient
  }
}
