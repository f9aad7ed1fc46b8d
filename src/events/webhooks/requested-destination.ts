import { refuse } from '../../base/refusal.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { checkDestination, type DestinationPolicy, readDestinationUrl } from './destination/destination.ts'
import { maxHeaders } from './schema.ts'

/**
 * The URL of a webhook in its canonical form. A name that cannot be looked up just now is accepted: each delivery checks it.
 * @throws Refusal `invalid_request` with the rule that refuses it as `reason`
 */
export async function requireDestination(
  { resolver, policy }: { readonly resolver: Resolver; readonly policy: DestinationPolicy },
  text: string,
): Promise<string> {
  const url = readDestinationUrl(text, policy)
  const checked = url instanceof URL ? await checkDestination(url, policy, resolver) : url
  if (checked.kind === 'refused')
    throw refuse('invalid_request', { message: checked.message, param: 'url', reason: checked.rule })
  return String(url)
}

const maxHeaderLength = 1024
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/
/** RFC 9110 §5.5, without obs-text. */
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/
/** Those that the delivery itself sets, and those that end at the next hop. */
const ownHeaders =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|accept-encoding|user-agent|proxy-.*|webhook-.*)$/i

/**
 * The headers that a webhook may send.
 * @throws Refusal `invalid_request` that names the header
 */
export function requireHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers)
  if (entries.length > maxHeaders)
    throw refuse('invalid_request', {
      message: `There are ${entries.length} headers; at most ${maxHeaders}.`,
      param: 'headers',
    })
  for (const [name, value] of entries) {
    const problem = problemOf(name, value)
    if (problem) throw refuse('invalid_request', { message: problem, param: `headers.${name.slice(0, 64)}` })
  }
  if (new Set(entries.map(([name]) => name.toLowerCase())).size < entries.length)
    throw refuse('invalid_request', { message: 'A header is given twice.', param: 'headers' })
  return headers
}

function problemOf(name: string, value: string): string | null {
  if (!headerName.test(name)) return `${JSON.stringify(name.slice(0, 64))} is not the name of a header.`
  if (ownHeaders.test(name)) return `The header ${name} is set by the delivery itself.`
  if (value.length > maxHeaderLength || !headerValue.test(value))
    return `The value of ${name} is not 1 to ${maxHeaderLength} printable ASCII characters.`
  return null
}
