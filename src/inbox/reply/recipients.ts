import { type Address, formatAddress, parseAddress } from '../../mail/address.ts'
import type { MessageSummary } from '../../mail/message.ts'

/** Whom a message names. */
export type Correspondents = Pick<MessageSummary, 'from' | 'replyTo' | 'to' | 'cc'>

/** Whom a reply goes to; nobody twice. An empty `to`: there is nobody to answer. */
export interface ReplyRecipients {
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
}

/** A reply to whoever asked for it: Reply-To, else From. RFC 5322 §3.6.2. */
export function replyRecipients({ from, replyTo }: Correspondents): ReplyRecipients {
  const asked = distinct(replyTo)
  return { to: asked.length > 0 ? asked : distinct(from), cc: [] }
}

/**
 * A reply to those as well who got the message with us, without those that are ourselves. Where that leaves no author (the
 * message was our own), it goes to the others directly.
 */
export function replyAllRecipients(message: Correspondents, isOurs: (address: string) => boolean): ReplyRecipients {
  const to = replyRecipients(message).to.filter(address => !isOurs(address.address))
  const seen = new Set(to.map(keyOf))
  const others = distinct([...message.to, ...message.cc]).filter(
    address => !isOurs(address.address) && !seen.has(keyOf(address)),
  )
  return to.length > 0 ? { to, cc: others } : { to: others, cc: [] }
}

/** All that a reply to all may go to. */
export function correspondentsOf(message: Correspondents): readonly string[] {
  return distinct([...message.replyTo, ...message.from, ...message.to, ...message.cc]).map(address => address.address)
}

/** As headers name them, those that mail can be sent to, the first of each (without case). */
function distinct(addresses: readonly Address[]): readonly Address[] {
  const seen = new Set<string>()
  return addresses
    .flatMap(address => parseAddress(formatAddress(address)) ?? [])
    .filter(address => !seen.has(keyOf(address)) && seen.add(keyOf(address)))
}

function keyOf({ address }: Address): string {
  return address.toLowerCase()
}
