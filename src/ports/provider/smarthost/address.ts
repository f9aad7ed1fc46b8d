import { isIP } from 'node:net'

/** Where the relay is, and how to connect to it. */
export interface SmarthostAddress {
  readonly host: string
  readonly port: number
  /** TLS from the first byte (RFC 8314 §3.3). */
  readonly implicitTls: boolean
  /** Fail when STARTTLS is not offered? */
  readonly requireTls: boolean
  /** Must the certificate be valid? */
  readonly verifyCertificate: boolean
  readonly credentials: { readonly user: string; readonly password: string } | null
}

/**
 * Reads `smtp://user:password@host:port` or `smtps://…`. Port: 465 for smtps, 587 with a password, else 25.
 *
 * A password never goes over the wire in clear, except to this machine. Without one STARTTLS is used where it is
 * offered, whatever the certificate: opportunistic TLS is still better than plain text (RFC 7435).
 */
export function readSmarthostUrl(url: string): SmarthostAddress {
  const { protocol, hostname, port, username, password } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const implicitTls = protocol === 'smtps:'
  const credentials = username ? { user: decodeURIComponent(username), password: decodeURIComponent(password) } : null
  const isRemote = !isLoopback(host)
  return {
    host,
    port: Number(port) || (implicitTls ? 465 : credentials ? 587 : 25),
    implicitTls,
    requireTls: credentials !== null && !implicitTls && isRemote,
    verifyCertificate: isRemote && (implicitTls || credentials !== null),
    credentials,
  }
}

function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1'
}
