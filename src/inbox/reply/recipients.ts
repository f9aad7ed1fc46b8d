import { type Address, formatAddress, parseAddress } from '../../mail/address.ts'
import type { MessageSummary } from '../../mail/message.ts'

/** The address fields of a message. */
export type Correspondents = Pick<MessageSummary, 'from' | 'replyTo' | 'to' | 'cc'>

/** Whom a reply goes to; nobody twice. An empty `to`: there is nobody to reply to. */
export interface ReplyRecipients {
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
}

/** A reply to the author: Reply-To, else From. RFC 5322 §3.6.2. */
export function replyRecipients({ from, replyTo }: Correspondents): ReplyRecipients {
  const replyAddresses = distinct(replyTo)
  return { to: replyAddresses.length > 0 ? replyAddresses : distinct(from), cc: [] }
}

/**
 * A reply to the author, with copies to all who got the message, but not to our own addresses. If the author is one of those,
 * the reply goes to the other recipients directly.
 */
export function replyAllRecipients(message: Correspondents, isOurs: (address: string) => boolean): ReplyRecipients {
  const to = replyRecipients(message).to.filter(address => !isOurs(address.address))
  const seen = new Set(to.map(keyOf))
  const others = distinct([...message.to, ...message.cc]).filter(
    address => !isOurs(address.address) && !seen.has(keyOf(address)),
  )
  return to.length > 0 ? { to, cc: others } : { to: others, cc: [] }
}

/** All addresses that a reply to all may go to. */
export function correspondentsOf(message: Correspondents): readonly string[] {
  return distinct([...message.replyTo, ...message.from, ...message.to, ...message.cc]).map(address => address.address)
}

/** Those that mail can be sent to, each once (without case). */
function distinct(addresses: readonly Address[]): readonly Address[] {
  const seen = new Set<string>()
  return addresses
    .flatMap(address => parseAddress(formatAddress(address)) ?? [])
    .filter(address => !seen.has(keyOf(address)) && seen.add(keyOf(address)))
}

function keyOf({ address }: Address): string {
  return address.toLowerCase()
}
