import { domainToASCII } from 'node:url'

const maxName = 253
// Unlike a host name's, a record's label may hold underscores: _dmarc, _domainkey (RFC 8552 §1).
const recordLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** The label under which a domain's ownership is proven. */
const ownershipLabel = '_mailroom'

/**
 * The record's name in full, as a lower-case A-label without a final dot, from what a person writes in the settings of
 * `domain`: `@` (the domain), `www` (a name relative to it), `www.example.com` or `www.example.com.` (a full name). Without
 * a final dot a name is full when it ends with the domain or with its top-level label, so that a sibling's name is never
 * read as a name below the domain. The first label may be `*` (RFC 4592 §2.1.1). Undefined when it is no name.
 */
export function parseRecordName(text: string, domain: string): string | undefined {
  if (text === '@') return domain
  const isFinal = text.endsWith('.')
  const labels = readLabels(isFinal ? text.slice(0, -1) : text, { wildcard: true })
  if (!labels) return undefined
  const given = labels.join('.')
  const isFull = isFinal || labels.at(-1) === domain.slice(domain.lastIndexOf('.') + 1)
  const name = isFull ? given : `${given}.${domain}`
  return name.length <= maxName ? name : undefined
}

/** The full name that a CNAME leads to: at least two labels, without a final dot. Undefined when it is none. */
export function parseTarget(text: string): string | undefined {
  const labels = readLabels(text.replace(/\.$/, ''), { wildcard: false })
  const name = labels?.join('.')
  if (labels === undefined || labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return name !== undefined && name.length <= maxName ? name : undefined
}

function readLabels(text: string, { wildcard }: { readonly wildcard: boolean }): readonly string[] | undefined {
  const labels = text.split('.').map((label, i) => (wildcard && i === 0 && label === '*' ? label : readLabel(label)))
  return labels.every(label => label !== undefined) ? labels : undefined
}

/** Label by label: the rules for URLs, which domainToASCII follows, would read a name that ends in a number as an address. */
function readLabel(text: string): string | undefined {
  const lower = text.toLowerCase()
  const label = /[\u0080-\u{10ffff}]|^xn--/u.test(lower) ? domainToASCII(lower) : lower
  return recordLabel.test(label) ? label : undefined
}

/** Is `name` the domain, or below it? */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}

/** Is this a name by which the ownership of some domain is proven, or below one? */
export function isOwnershipName(name: string): boolean {
  return name.split('.').includes(ownershipLabel)
}

/** The names from `name` up to, but without, `domain`: those under which a longer domain may be registered. */
export function namesBetween(name: string, domain: string): readonly string[] {
  const labels = name.slice(0, Math.max(0, name.length - domain.length - 1)).split('.')
  return labels[0] === '' ? [] : labels.map((_, i) => `${labels.slice(i).join('.')}.${domain}`)
}
