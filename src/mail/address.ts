import { domainToASCII } from 'node:url'

/** A mailbox in a header field (RFC 5322 §3.4). */
export interface Address {
  /** `local-part@domain`: the local part as given (quoted only where necessary), the domain as a lower-case A-label. */
  readonly address: string
  /** The display name, decoded; empty: none. */
  readonly name: string
}

const maxAddress = 254
const maxLocalPart = 64
const maxName = 256

const atext = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
const dotAtom = new RegExp(`^${atext}+(?:\\.${atext}+)*$`)
const quotedString = /^"((?:[ !#-[\]-~]|\\[ -~])+)"$/
const control = /\p{Cc}/u
// A display name is words and quoted strings. A word holds no specials, except the dot, which is common in practice.
const nameWord = /[^\s"(),:;<>@[\\\]]+|"(?:[^"\\]|\\.)*"/y
const plainName = /^[^\s"(),:;<>@[\\\]]+(?: [^\s"(),:;<>@[\\\]]+)*$/u
const ldhLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Parses exactly one address: `a@x` or `Name <a@x>`, the local part a dot-atom or a quoted string of ASCII (at most 64
 * octets), the whole address at most 254 octets, the name at most 256 characters. Undefined for anything else: control
 * characters, comments, groups, lists, source routes, address literals. RFC 5321 §4.1.2, RFC 5322 §3.4.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > 1024 || control.test(text) || !text.isWellFormed()) return undefined
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return withName(trimmed, '')
  // A quoted local part may hold `<`: the address starts at the first one outside a quoted string.
  const name = readName(trimmed)
  return name && withName(trimmed.slice(name.end + 1, -1), name.name)
}

function withName(addrSpec: string, name: string): Address | undefined {
  const at = addrSpec.lastIndexOf('@')
  if (at < 1) return undefined
  const localPart = canonicalLocalPart(addrSpec.slice(0, at))
  const domain = canonicalDomain(addrSpec.slice(at + 1))
  if (localPart === undefined || domain === undefined) return undefined
  const address = `${localPart}@${domain}`
  return address.length <= maxAddress ? { address, name } : undefined
}

/** The words before `<`, separated by one space, and the offset of that `<`. */
function readName(text: string): { readonly name: string; readonly end: number } | undefined {
  const words: string[] = []
  let at = 0
  while (text.charAt(at) !== '<') {
    nameWord.lastIndex = at
    const word = nameWord.exec(text)?.[0]
    if (!word) return undefined
    words.push(word.startsWith('"') ? unquote(word) : word)
    at += word.length
    while (text.charAt(at) === ' ') at++
  }
  const name = words.join(' ').trim()
  return name.length <= maxName ? { name, end: at } : undefined
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gu, '$1')
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** The simplest form of a local part, unquoted where possible (RFC 5321 §4.1.2); undefined when it is invalid. */
function canonicalLocalPart(text: string): string | undefined {
  if (text.length > maxLocalPart) return undefined
  if (dotAtom.test(text)) return text
  if (!quotedString.test(text)) return undefined
  const content = unquote(text)
  return dotAtom.test(content) ? content : quote(content)
}

/**
 * The domain as a lower-case A-label of at least two LDH labels, at most 253 octets, without a final dot; undefined when
 * `text` is not a domain (an address literal, an IP address, an underscore, a label that IDNA refuses). RFC 5890 §2.3.
 */
export function canonicalDomain(text: string): string | undefined {
  if (text.length > 253 || /[^a-z0-9.\u0080-\uffff-]/i.test(text)) return undefined
  const lower = text.toLowerCase()
  // ASCII domains are left alone: domainToASCII follows the URL rules, which read 0x7f.1 as an IP address.
  const domain = /[\u0080-\uffff]|xn--/.test(lower) ? domainToASCII(lower) : lower
  const labels = domain.split('.')
  const last = labels.at(-1)
  const isName =
    domain.length <= 253 &&
    labels.length >= 2 &&
    labels.every(label => ldhLabel.test(label)) &&
    !/^\d+$/.test(last ?? '')
  return isName ? domain : undefined
}

/** The local part and the domain of an address from {@link parseAddress}. */
export function splitAddress(address: string): { readonly localPart: string; readonly domain: string } {
  const at = address.lastIndexOf('@')
  return { localPart: address.slice(0, at), domain: address.slice(at + 1) }
}

/** `a@x`, or `Name <a@x>` with the name quoted where necessary: {@link parseAddress} gives the same address back. */
export function formatAddress({ address, name }: Address): string {
  if (name === '') return address
  return `${plainName.test(name) ? name : quote(name)} <${address}>`
}
