import libmime from 'libmime'
import { refuse } from '../../base/refusal.ts'
import { type Address, parseAddress, splitAddress } from '../../mail/address.ts'
import type { HeaderField } from '../../mail/header.ts'
import { withoutControls } from '../../mail/text.ts'
import { readAddress } from '../accept/recipients.ts'

const originatorField = /^(?:from|sender|resent-from|resent-sender)$/i
/** Fields that name somebody besides From as the originator (RFC 5322 §3.6.2, §3.6.6). */
const otherOriginators = ['sender', 'resent-from', 'resent-sender']
// Cron and old programs put the name into a comment after the address.
const withComment = /^([^\s()<>"]+) +\(([^()\\"]*)\)$/

/**
 * The address in From: the one that the checks and the signature are about.
 * @throws Refusal `invalid_request` unless there is one From field with one address; `from_not_allowed` when another field
 * names an originator of another domain
 */
export function readOriginator(allHeaders: readonly HeaderField[]): Address {
  const headers = allHeaders.filter(({ name }) => originatorField.test(name))
  const [field, ...more] = valuesOf(headers, 'from')
  if (field === undefined || more.length > 0)
    throw refuse('invalid_request', {
      message: `from: the message has ${more.length > 0 ? more.length + 1 : 'no'} From fields; it must have one.`,
      param: 'from',
    })
  const from = readMailbox(field)
  for (const name of otherOriginators) for (const value of valuesOf(headers, name)) requireSameDomain(name, value, from)
  return { address: from.address, name: withoutControls(libmime.decodeWords(from.name)) }
}

function valuesOf(headers: readonly HeaderField[], key: string): readonly string[] {
  return headers.filter(({ name }) => name.toLowerCase() === key).map(({ value }) => value)
}

function readMailbox(value: string): Address {
  const [, address, comment] = withComment.exec(value) ?? []
  const commented = address === undefined ? undefined : parseAddress(address)
  return commented ? { ...commented, name: comment ?? '' } : readAddress(value, 'from')
}

function requireSameDomain(name: string, value: string, from: Address): void {
  const { domain } = splitAddress(from.address)
  const other = parseAddress(value)
  if (other && splitAddress(other.address).domain === domain) return
  throw refuse('from_not_allowed', {
    message: `${name}: it must be one address of ${domain}, the domain of From, or absent.`,
    param: name,
  })
}
