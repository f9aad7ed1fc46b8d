import type { SessionContext } from './session.ts'

/**
 * The name of the cookie that holds a session. Browsers accept one with the prefix only from this host, over TLS and for all
 * paths, so that a neighbouring host cannot plant its own (RFC 6265bis §4.1.3).
 */
export function sessionCookieName(isSecure: boolean): string {
  return isSecure ? '__Host-mailroom' : 'mailroom'
}

/** The value of the session's cookie in a request. Where a proxy hides TLS from us, the browser shows the prefix all the same. */
export function readSessionCookie({
  cookie,
  isSecure,
}: Pick<SessionContext, 'cookie' | 'isSecure'>): string | undefined {
  return cookie(sessionCookieName(true)) ?? (isSecure ? undefined : cookie(sessionCookieName(false)))
}
