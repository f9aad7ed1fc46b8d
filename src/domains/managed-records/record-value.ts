import { isIPv4, isIPv6 } from 'node:net'
import { canonicalDomain } from '../../mail/address.ts'
import type { ZoneRecord } from '../../ports/dns-zone/port.ts'
import { parseTarget } from './record-name.ts'

/** Sixteen strings of 255 octets (RFC 1035 §3.3). */
const maxTextBytes = 16 * 255
const control = /\p{Cc}/u

/** What a valid value is, for error messages. */
export const expectedValues: Readonly<Record<ZoneRecord['type'], string>> = {
  A: 'an IPv4 address such as 192.0.2.1',
  AAAA: 'an IPv6 address such as 2001:db8::1',
  CNAME: 'the fully qualified name of another host',
  MX: 'the fully qualified name of a mail server, or "." for a domain that accepts no mail',
  TXT: `1 to ${maxTextBytes} octets of text without control characters`,
}

/** The canonical form of a record's value; undefined when it is not valid for the type. */
export function parseRecordValue(type: ZoneRecord['type'], text: string): string | undefined {
  switch (type) {
    case 'A':
      return isIPv4(text) ? text : undefined
    case 'AAAA':
      return parseIpv6(text)
    case 'CNAME':
      return parseTarget(text)
    case 'MX':
      // "." is the null MX (RFC 7505). IP addresses are not allowed (RFC 5321 §5.1).
      return text === '.' ? text : canonicalDomain(text.replace(/\.$/, ''))
    case 'TXT':
      return parseText(text)
    default:
      return type satisfies never
  }
}

/** RFC 5952, without a zone index. */
function parseIpv6(text: string): string | undefined {
  return isIPv6(text) && !text.includes('%') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : undefined
}

function parseText(text: string): string | undefined {
  const isValid = text !== '' && text.isWellFormed() && !control.test(text) && Buffer.byteLength(text) <= maxTextBytes
  return isValid ? text : undefined
}
