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

/** The text that a message of one part holds, decoded. RFC 5321 §4.5.2, RFC 2045 §6. */
export function textOf({ wire }: RelayedMessage): string {
  const message = wire.toString('latin1').replace(/(^|\r\n)\.\./g, '$1.')
  const at = message.indexOf('\r\n\r\n')
  const [header, body] = [message.slice(0, at), message.slice(at + 4)]
  const encoding = /^content-transfer-encoding: (.*)$/im.exec(header)?.[1]?.trim()
  switch (encoding) {
    case '7bit':
    case undefined:
      return body
    case 'quoted-printable':
      return Buffer.from(
        body
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      ).toString()
    case 'base64':
      return Buffer.from(body, 'base64').toString()
    default:
      throw new Error(`an encoding of ${encoding}`)
  }
}
