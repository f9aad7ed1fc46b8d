import type { InboundRecipient } from './incoming-message.ts'

type FindRecipient = (address: string) => Promise<InboundRecipient>

const keptMs = 1000
const maxKept = 20

/**
 * Looks recipients up for one SMTP session. Who was found within the last second is not looked up again: a client with many
 * messages for one mailbox sends them one after the other. That the mailbox still exists is checked when a message is filed.
 */
export function sessionRecipients(find: FindRecipient): FindRecipient {
  const found = new Map<string, { readonly recipient: InboundRecipient; readonly sinceMs: number }>()
  return async address => {
    const known = found.get(address)
    if (known && performance.now() - known.sinceMs < keptMs) return known.recipient
    const sinceMs = performance.now()
    const recipient = await find(address)
    if (found.size === maxKept) found.clear()
    found.set(address, { recipient, sinceMs })
    return recipient
  }
}
