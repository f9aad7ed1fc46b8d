import { isIPv4, isIPv6 } from 'node:net'

/** Where a client is: its end of the connection, or what a load balancer tells of it. */
export interface ClientEndpoint {
  readonly address: string
  readonly port: number
}

/** What the first bytes of a connection say. `length`: of the header, in bytes; what follows is the client's. */
export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'client'; readonly client: ClientEndpoint; readonly length: number }
  /** The balancer speaks for itself, or cannot tell: the address of the connection counts. */
  | { readonly kind: 'own'; readonly length: number }

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Signature, version and command, family, and the length of the rest. */
const fixedBytes = 16
/** A header with all that balancers add to it has a few hundred bytes; one may say up to 65,535. */
const maxBytes = 4096
/** With the longest addresses and CRLF, as the protocol counts them. */
const maxLineBytes = 107

const incomplete: ProxyHeader = { kind: 'incomplete' }
const malformed: ProxyHeader = { kind: 'malformed' }

/**
 * Reads a header of the PROXY protocol, version 1 (a line of text) or 2 (binary), from the bytes that have come so far.
 * Clients over TCP are told; other families and extensions (TLV) are passed over.
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
  const isTold = command === proxied && addressBytes > 0
  // Two addresses and two ports.
  if (isTold && length < fixedBytes + 2 * addressBytes + 4) return malformed
  if (bytes.length < length) return incomplete
  if (!isTold) return { kind: 'own', length }
  const source = bytes.subarray(fixedBytes, fixedBytes + addressBytes)
  const port = bytes.readUInt16BE(fixedBytes + 2 * addressBytes)
  return { kind: 'client', client: { address: addressOf(source), port }, length }
}

function addressOf(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, group) => bytes.readUInt16BE(2 * group).toString(16))
  return canonical(groups.join(':'))
}

/** As RFC 5952 writes it; an IPv4 address within an IPv6 one as such. */
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
