import { readRecipient } from './recipients.ts'

/** A sender, as the form has it. */
export interface Sender {
  /** May be empty. */
  readonly name: string
  readonly localPart: string
  readonly domain: string
}

/** The parts of `Name <name@domain>`. */
export function readFrom(text: string): Sender {
  const { name, address } = readRecipient(text)
  const at = address.lastIndexOf('@')
  return { name, localPart: at < 0 ? address : address.slice(0, at), domain: at < 0 ? '' : address.slice(at + 1) }
}

/** As the API takes it; a name that is no list of words is quoted. */
export function fromText({ name, localPart, domain }: Sender): string {
  const address = `${localPart}@${domain}`
  return name.trim() === '' ? address : `${quoted(name)} <${address}>`
}

// Unlike a recipient's, this is typed letter by letter: the blank after the first word stays.
function quoted(name: string): string {
  return /^[\p{L}\p{M}\p{N} ]+$/u.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`
}
