/** The value of a cookie in a Cookie header (RFC 6265 §4.2); the first, where several have the name. */
export function readCookie(header: string | null, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=')
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/**
 * A Set-Cookie that no script and no other site gets to use. The value is of characters that need no quotes.
 * @param maxAgeSeconds 0 deletes the cookie
 */
export function setCookieHeader(name: string, value: string, maxAgeSeconds: number, isSecure: boolean): string {
  if (!/^[\w-]+$/.test(name) || !/^[\w.~+/=-]*$/.test(value)) throw new Error(`${name} cannot be a cookie as it is`)
  return [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.round(maxAgeSeconds))}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')
}
