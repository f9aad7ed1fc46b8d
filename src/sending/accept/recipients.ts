import { refuse } from '../../base/refusal.ts'
import { type Address, parseAddress } from '../../mail/address.ts'

/** An address or several, as a request gives them. */
export type AddressInput = string | readonly string[] | null | undefined

/** The recipients of an email by the field that names them; no address twice, `to` before `cc` before `bcc`. */
export interface RecipientLists {
  readonly to: readonly Address[]
  readonly cc: readonly Address[]
  readonly bcc: readonly Address[]
  /** How many the request names, duplicates included. */
  readonly namedCount: number
}

export const maxRecipients = 50
/** So many addresses are checked; a request with more is refused for their number alone. */
const maxChecked = 1000

/** Reads one address. @throws invalid_request that names `param`. */
export function readAddress(text: string, param: string): Address {
  const address = parseAddress(text)
  if (address) return address
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
  throw refuse('invalid_request', {
    message: `${param}: ${shown} is not one address of the form a@example.com or Name <a@example.com>.`,
    param,
  })
}

/** Reads one address or several; absent: none. @throws invalid_request, with a param such as `to[3]`. */
export function readAddresses(input: AddressInput, param: string): readonly Address[] {
  if (input === null || input === undefined) return []
  if (typeof input === 'string') return [readAddress(input, param)]
  return input.slice(0, maxChecked).map((text, i) => readAddress(text, `${param}[${i}]`))
}

/** Reads the recipients; duplicates (without case) are dropped. @throws invalid_request when `to` names nobody. */
export function readRecipients(input: {
  readonly to: AddressInput
  readonly cc?: AddressInput
  readonly bcc?: AddressInput
}): RecipientLists {
  const seen = new Set<string>()
  const first = (address: Address) => {
    const key = address.address.toLowerCase()
    return !seen.has(key) && seen.add(key)
  }
  const to = readAddresses(input.to, 'to')
  const cc = readAddresses(input.cc, 'cc')
  const bcc = readAddresses(input.bcc, 'bcc')
  if (to.length === 0)
    throw refuse('invalid_request', { message: 'to: at least one address is required.', param: 'to' })
  const named = count(input.to) + count(input.cc) + count(input.bcc)
  return { to: to.filter(first), cc: cc.filter(first), bcc: bcc.filter(first), namedCount: named }
}

function count(input: AddressInput): number {
  return typeof input === 'string' ? 1 : (input?.length ?? 0)
}

/** A recipient of the envelope (RCPT TO). */
export interface EnvelopeRecipient {
  /** The address, its domain as an A-label. */
  readonly email: string
  /** Which field of the request names it. */
  readonly type: 'to' | 'cc' | 'bcc'
}

/** The envelope's recipients, in the order to, cc, bcc. */
export function envelopeRecipients({ to, cc, bcc }: RecipientLists): readonly EnvelopeRecipient[] {
  const withType = (type: EnvelopeRecipient['type'], addresses: readonly Address[]) =>
    addresses.map(({ address }) => ({ email: address, type }))
  return [...withType('to', to), ...withType('cc', cc), ...withType('bcc', bcc)]
}
