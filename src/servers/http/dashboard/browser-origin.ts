import { unmapIpv4 } from '../../../base/networks.ts'
import { refuse } from '../../../base/refusal.ts'

/** The origin of the page that makes a request, and whether cookies go over TLS there. */
export interface BrowserOrigin {
  /** Without a final slash: `https://mail.example.com`. */
  readonly origin: string
  readonly isSecure: boolean
}

/**
 * The origin that the browser shows for a request. A proxy that terminates TLS leaves `http://` in its URL, and may replace
 * its host: then the public URL counts, where the request's host or its Origin is that of the public URL.
 * @param publicUrl MAILROOM_PUBLIC_URL
 * @param isTls whether the request came over TLS of our own
 */
export function browserOrigin(
  { url, headers }: Pick<Request, 'url' | 'headers'>,
  isTls: boolean,
  publicUrl: string | undefined,
): BrowserOrigin {
  const { host } = new URL(url)
  if (isTls) return { origin: `https://${host}`, isSecure: true }
  const published = publicUrl === undefined ? undefined : new URL(publicUrl)
  if (published && (published.host === host || headers.get('origin') === published.origin))
    return { origin: published.origin, isSecure: published.protocol === 'https:' }
  return { origin: `http://${host}`, isSecure: false }
}

/**
 * The dashboard is for https, and for the machine itself: elsewhere browsers offer no passkeys, and whoever is on the way
 * could take the session's cookie.
 * @param publicUrl MAILROOM_PUBLIC_URL
 * @throws Refusal `https_required`, whose message says what to do
 */
export function requireSafeOrigin({ origin, isSecure }: BrowserOrigin, publicUrl: string | undefined): void {
  if (isSecure || loopbackHosts.has(new URL(origin).hostname)) return
  throw refuse('https_required', {
    message:
      publicUrl !== undefined && new URL(publicUrl).protocol === 'https:'
        ? `The dashboard is at ${publicUrl.replace(/\/+$/, '')}/app, not at ${origin}; a reverse proxy in front of it must pass the Host header on.`
        : `The dashboard needs https, and this is ${origin}: set MAILROOM_PUBLIC_URL to the https address of a reverse proxy, or MAILROOM_HTTPS_LISTEN (docs/operations.md, "HTTPS for the dashboard").`,
  })
}

const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'] as const

/**
 * Was the request made by a browser on this machine, on an instance that has no public URL? A proxy on this machine, which
 * makes all requests from here, is told by its headers.
 * @param ip the address of the client
 */
export function isLocalRequest(
  { url, headers }: Pick<Request, 'url' | 'headers'>,
  ip: string,
  publicUrl: string | undefined,
): boolean {
  const isLoopback = (address: string) => loopbackHosts.has(new URL(address).hostname)
  const address = unmapIpv4(ip)
  return (
    (address === '::1' || address.startsWith('127.')) &&
    isLoopback(url) &&
    (publicUrl === undefined || isLoopback(publicUrl)) &&
    !forwardingHeaders.some(name => headers.has(name))
  )
}
