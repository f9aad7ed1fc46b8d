import { isIPv4, isIPv6 } from 'node:net'

/** The client's end of a connection, as the socket or a load balancer reports it. */
export interface ClientEndpoint {
  readonly address: string
  readonly port: number
}

/** The header at the start of a connection. `length`: the bytes of the header; the client's own bytes follow. */
export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'client'; readonly client: ClientEndpoint; readonly length: number }
  /** A connection of the load balancer itself, or of an unknown client: the address of the connection counts. */
  | { readonly kind: 'own'; readonly length: number }

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Signature, version and command, family, and the length of the rest. */
const fixedBytes = 16
/** Headers with all known extensions have a few hundred bytes; the protocol allows 65,535. */
const maxBytes = 4096
/** The longest header of version 1, CRLF included, as the protocol counts it. */
const maxLineBytes = 107

const incomplete: ProxyHeader = { kind: 'incomplete' }
const malformed: ProxyHeader = { kind: 'malformed' }

/**
 * Parses a header of the PROXY protocol, version 1 (a line of text) or 2 (binary), from the bytes received so far. Gives
 * the client of TCP connections; other families, and extensions (TLV), are ignored.
 * https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt §2
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const start = bytes.subarray(0, signature.length)
  if (start.equals(signature.subarray(0, start.length)))
    return bytes.length < fixedBytes ? incomplete : readBinary(bytes)
  const word = bytes.subarray(0, 6).toString('latin1')
  return 'PROXY '.startsWith(word) ? readLine(bytes) : malformed
}

function readLine(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, maxLineBytes).indexOf('\r\n')
  if (end < 0) return bytes.length < maxLineBytes ? incomplete : malformed
  const length = end + 2
  const [, family, source = '', target = '', sourcePort = '', targetPort = '', ...more] = bytes
    .toString('latin1', 0, end)
    .split(' ')
  if (family === 'UNKNOWN') return { kind: 'own', length }
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : () => false
  const isRight = [source, target].every(value => isAddress(value) && !value.includes('%'))
  if (!isRight || ![sourcePort, targetPort].every(isPort) || more.length > 0) return malformed
  return { kind: 'client', client: { address: canonical(source), port: Number(sourcePort) }, length }
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535
}

const local = 0x20
const proxied = 0x21
/** Families and protocols of version 2 that are assigned: unspecified, and IPv4, IPv6 and Unix by stream and datagram. */
const assigned = new Set([0x00, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32])
const tcp4 = 0x11
const tcp6 = 0x21

function readBinary(bytes: Buffer): ProxyHeader {
  const command = bytes.readUInt8(12)
  const family = bytes.readUInt8(13)
  const length = fixedBytes + bytes.readUInt16BE(14)
  if ((command !== local && command !== proxied) || length > maxBytes) return malformed
  if (command === proxied && !assigned.has(family)) return malformed
  const addressBytes = family === tcp4 ? 4 : family === tcp6 ? 16 : 0
  const hasClient = command === proxied && addressBytes > 0
  // Two addresses and two ports.
  if (hasClient && length < fixedBytes + 2 * addressBytes + 4) return malformed
  if (bytes.length < length) return incomplete
  if (!hasClient) return { kind: 'own', length }
  const source = bytes.subarray(fixedBytes, fixedBytes + addressBytes)
  const port = bytes.readUInt16BE(fixedBytes + 2 * addressBytes)
  return { kind: 'client', client: { address: addressOf(source), port }, length }
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(2 * group).toString(16))
  return canonical(groups.join(':'))
}

/** The canonical form (RFC 5952); an IPv4-mapped IPv6 address becomes the IPv4 address. */
function canonical(address: string): string {
  if (isIPv4(address)) return address
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text)
  if (!mapped) return text
  const quad = Buffer.alloc(4)
  quad.writeUInt16BE(Number.parseInt(mapped[1] ?? '', 16), 0)
  quad.writeUInt16BE(Number.parseInt(mapped[2] ?? '', 16), 2)
  return quad.join('.')
}
