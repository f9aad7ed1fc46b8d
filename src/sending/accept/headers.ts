import { invalidParameter } from './invalid-parameter.ts'

/** A header field of the request. */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

const refusedNames = new Set([
  'from',
  'to',
  'cc',
  'bcc',
  'sender',
  'date',
  'subject',
  'message-id',
  'received',
  'return-path',
  'reply-to',
  'mime-version',
  'dkim-signature',
  'authentication-results',
])
const refusedPrefixes = ['content-', 'arc-', 'x-mailroom-']
// Fields in which encoded words are not decoded (RFC 2047 §5).
const asciiOnly = new Set(['in-reply-to', 'references', 'list-unsubscribe', 'list-unsubscribe-post'])

// RFC 5322 §2.2: printable ASCII but the colon.
const fieldName = /^[!-9;-~]{1,120}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const lineBreaking = /[\r\n\u0000]/
const maxFields = 50
const maxValueLength = 998
const maxLineLength = 998

/** Checks the request's header fields. @throws invalid_request, with a param such as `headers.X-Name`. */
export function readHeaders(input: Readonly<Record<string, string>> | null | undefined): readonly HeaderField[] {
  // A run of spaces could be folded into a line that looks empty.
  const fields = Object.entries(input ?? {}).map(([name, value]) => ({ name, value: value.replace(/[ \t]{2,}/g, ' ') }))
  if (fields.length > maxFields) throw invalidParameter('headers', `at most ${maxFields} headers are allowed`)
  const seen = new Set<string>()
  for (const { name, value } of fields) {
    const lower = name.toLowerCase()
    if (lineBreaking.test(name)) throw invalidParameter('headers', 'the name of a header contains a line break or NUL')
    const param = `headers.${name.slice(0, 120)}`
    if (!fieldName.test(name)) throw invalidParameter(param, 'this is not the name of a header field')
    if (refusedNames.has(lower) || refusedPrefixes.some(prefix => lower.startsWith(prefix)))
      throw invalidParameter(param, 'this header is set by the service, or by a field of the request')
    if (seen.has(lower)) throw invalidParameter(param, 'this header is given twice')
    seen.add(lower)
    refuseValue(lower, value, param)
  }
  return fields
}

function refuseValue(name: string, value: string, param: string): void {
  if (lineBreaking.test(value)) throw invalidParameter(param, 'the value contains a line break or NUL')
  if (value.length > maxValueLength)
    throw invalidParameter(param, `the value has more than ${maxValueLength} characters`)
  if (!value.isWellFormed()) throw invalidParameter(param, 'the value is not well-formed Unicode')
  if (asciiOnly.has(name) && !/^[ -~\t]*$/.test(value)) throw invalidParameter(param, 'this header must be ASCII')
  const longest = Math.max(...value.split(/[ \t]/).map(word => word.length))
  if (name.length + 2 + longest > maxLineLength)
    throw invalidParameter(
      param,
      `the value contains a word that does not fit in a line of ${maxLineLength} characters`,
    )
}

/** The message ids that In-Reply-To and References name, without angle brackets, nearest first (RFC 5322 §3.6.4). */
export function referencesOf(fields: readonly HeaderField[]): readonly string[] {
  const ids = (name: string) =>
    fields.filter(field => field.name.toLowerCase() === name).flatMap(field => field.value.match(/[^\s<>,]+/g) ?? [])
  return [...new Set([...ids('in-reply-to'), ...ids('references').reverse()])]
}
