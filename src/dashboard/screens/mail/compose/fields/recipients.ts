/** A recipient as it was typed or pasted. */
export interface Recipient {
  /** As it is sent to the API: `Name <a@x.example>`, or the address alone. */
  readonly text: string
  readonly address: string
  /** May be empty. */
  readonly name: string
  /** Could mail be sent there? The API decides in the end. */
  readonly isValid: boolean
}

/**
 * The recipients in a pasted or typed text: separated by commas, semicolons or line ends, and addresses alone also by
 * blanks. A separator within quotes, angle brackets or a comment belongs to the name. RFC 5322 §3.4.
 */
export function readRecipients(text: string): readonly Recipient[] {
  return splitList(text)
    .flatMap(entry => (isBareList(entry) ? entry.split(/\s+/) : [entry]))
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
    .map(readRecipient)
}

/** Adds recipients, each address once (without case), in their order. */
export function addRecipients(before: readonly Recipient[], added: readonly Recipient[]): readonly Recipient[] {
  const seen = new Set(before.map(keyOf))
  return [...before, ...added.filter(recipient => !seen.has(keyOf(recipient)) && seen.add(keyOf(recipient)))]
}

/** One recipient; an address that cannot be one is kept, so that the person can mend it. */
export function readRecipient(entry: string): Recipient {
  const text = entry.replace(/\s+/g, ' ').trim()
  const angle = /^(.*)<([^<>]*)>$/.exec(text)
  const address = (angle?.[2] ?? text).trim().replace(/^mailto:/i, '')
  const name = unquote((angle?.[1] ?? '').trim())
  const isValid = isAddress(address)
  if (!isValid) return { text, address, name, isValid }
  return { text: name === '' ? address : `${quote(name)} <${address}>`, address, name, isValid }
}

function keyOf({ address }: Recipient): string {
  return address.toLowerCase()
}

/** Nothing but addresses, with blanks between them. */
function isBareList(entry: string): boolean {
  const words = entry.trim().split(/\s+/)
  return words.length > 1 && words.every(word => isAddress(word))
}

function splitList(text: string): readonly string[] {
  const entries: string[] = []
  let entry = ''
  let quoted = false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    if (quoted) {
      if (character === '\\') entry += text.charAt(i++)
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '<' || character === '(') depth++
    else if ((character === '>' || character === ')') && depth > 0) depth--
    else if (isSeparator(character, depth)) {
      entries.push(entry)
      entry = ''
      depth = 0
      continue
    }
    entry += text.charAt(i)
  }
  return [...entries, entry]
}

function isSeparator(character: string, depth: number): boolean {
  return character === '\n' || character === '\r' || (depth === 0 && (character === ',' || character === ';'))
}

const localPart = /^(?:[^\s"(),:;<>@[\\\]]+|"(?:[^"\\]|\\.)+")$/
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

function isAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const domain = text.slice(at + 1)
  const labels = domain.split('.')
  return (
    at > 0 &&
    text.length <= 320 &&
    localPart.test(text.slice(0, at)) &&
    labels.length > 1 &&
    labels.every(part => label.test(part))
  )
}

function unquote(name: string): string {
  const quoted = /^"(.*)"$/.exec(name)
  return quoted ? (quoted[1] ?? '').replace(/\\(.)/g, '$1') : name
}

/** A name that is no list of words is quoted. RFC 5322 §3.2.5. */
function quote(name: string): string {
  return /^[\p{L}\p{M}\p{N} !#$%&'*+/=?^_`{|}~-]+$/u.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`
}
