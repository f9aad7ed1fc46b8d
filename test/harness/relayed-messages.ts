import type { RelayedMessage } from './scripted-relay.ts'

/** A relayed message without dot-stuffing, one character per octet. RFC 5321 §4.5.2. */
export function unstuffed({ wire }: RelayedMessage): string {
  return wire.toString('latin1').replace(/^\./gm, '')
}

/** The values of a header field, unfolded. */
export function headerValues(message: string, name: string): readonly string[] {
  const header = message.slice(0, message.indexOf('\r\n\r\n') + 2).replace(/\r\n[ \t]/g, ' ')
  return Array.from(header.matchAll(new RegExp(`^${name}: *(.*)\r\n`, 'gim')), match => match[1] ?? '')
}

/** Relayed messages by email id, in the order of acceptance. */
export function groupByEmail(accepted: readonly RelayedMessage[]): ReadonlyMap<string, readonly RelayedMessage[]> {
  return Map.groupBy(accepted, ({ wire }) => /^x-mailroom-id: (.*)\r$/im.exec(wire.toString('latin1'))?.[1] ?? '')
}
