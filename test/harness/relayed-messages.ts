import type { RelayedMessage } from './scripted-relay.ts'

/** A message that a relay took, as its receiver has it, one character an octet. RFC 5321 §4.5.2. */
export function unstuffed({ wire }: RelayedMessage): string {
  return wire.toString('latin1').replace(/^\./gm, '')
}

/** The values of a header field, unfolded. */
export function headerValues(message: string, name: string): readonly string[] {
  const header = message.slice(0, message.indexOf('\r\n\r\n') + 2).replace(/\r\n[ \t]/g, ' ')
  return Array.from(header.matchAll(new RegExp(`^${name}: *(.*)\r\n`, 'gim')), match => match[1] ?? '')
}

/** What a relay took, by the email that it belongs to, in the order it came. */
export function groupByEmail(taken: readonly RelayedMessage[]): ReadonlyMap<string, readonly RelayedMessage[]> {
  return Map.groupBy(taken, ({ wire }) => /^x-mailroom-id: (.*)\r$/im.exec(wire.toString('latin1'))?.[1] ?? '')
}
