import { domainToASCII } from 'node:url'

const maxName = 253
// Unlike a host name's, a record's label may hold underscores: _dmarc, _domainkey (RFC 8552 §1).
const recordLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** The first label of ownership records. */
const ownershipLabel = '_mailroom'

/**
 * The record's fully qualified name in lower-case A-labels without a trailing dot, from what users enter for `domain`: `@`
 * (the domain), `www` or `_dmarc.www` (relative), `www.example.com` or `www.example.com.` (fully qualified). Only what cannot
 * be meant as a name elsewhere is relative: without a trailing dot, a single label, or a name that begins with `_` or `*`. A
 * wildcard is `*` as the first label (RFC 4592 §2.1.1). Undefined when it is not a valid name.
 */
export function parseRecordName(text: string, domain: string): string | undefined {
  if (text === '@') return domain
  const hasTrailingDot = text.endsWith('.')
  const labels = parseLabels(hasTrailingDot ? text.slice(0, -1) : text, { wildcard: true })
  if (!labels) return undefined
  const given = labels.join('.')
  const isRelative =
    !hasTrailingDot && !isWithin(given, domain) && (labels.length === 1 || given.startsWith('_') || labels[0] === '*')
  const name = isRelative ? `${given}.${domain}` : given
  return name.length <= maxName ? name : undefined
}

/** The target of a CNAME: at least two labels, without a trailing dot. Undefined when it is not a valid name. */
export function parseTarget(text: string): string | undefined {
  const labels = parseLabels(text.replace(/\.$/, ''), { wildcard: false })
  const name = labels?.join('.')
  if (labels === undefined || labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return name !== undefined && name.length <= maxName ? name : undefined
}

function parseLabels(text: string, { wildcard }: { readonly wildcard: boolean }): readonly string[] | undefined {
  const labels = text.split('.').map((label, i) => (wildcard && i === 0 && label === '*' ? label : parseLabel(label)))
  return labels.every(label => label !== undefined) ? labels : undefined
}

/** Label by label, because domainToASCII follows the URL rules and would read a name that ends in a number as an address. */
function parseLabel(text: string): string | undefined {
  const lower = text.toLowerCase()
  const label = /[\u0080-\u{10ffff}]|^xn--/u.test(lower) ? domainToASCII(lower) : lower
  return recordLabel.test(label) ? label : undefined
}

/** Is `name` the domain, or below it? */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}

/** Is this the name of an ownership record of some domain, or below one? */
export function isOwnershipName(name: string): boolean {
  return name.split('.').includes(ownershipLabel)
}

/** The names from `name` up to but excluding `domain`: the subdomains that may be registered separately. */
export function namesBetween(name: string, domain: string): readonly string[] {
  const labels = name.slice(0, Math.max(0, name.length - domain.length - 1)).split('.')
  return labels[0] === '' ? [] : labels.map((_, i) => `${labels.slice(i).join('.')}.${domain}`)
}
