/** A domain name as it is compared and stored: lower case, without the final dot. */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}

/**
 * Can this name exist at all: labels of 1 to 63 octets, 253 in all (RFC 1035 §2.3.4), and no control characters? A name
 * that cannot is not looked up.
 */
export function isValidName(name: string): boolean {
  if (name === '' || Buffer.byteLength(name) > 253) return false
  for (const label of name.split('.')) {
    const bytes = Buffer.byteLength(label)
    if (bytes === 0 || bytes > 63) return false
  }
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) < 0x20) return false
  return true
}
