import type { HeaderField, ParsedHeaders } from 'mailauth/lib/tools.js'

/** A longer header section is not read at all. */
export const maxHeaderBytes = 256 * 1024
const maxHeaderLines = 10_000
const maxFields = 1000
/** Of a field that is parsed: From, Content-Type, signatures. */
const maxFieldBytes = 8 * 1024
/** A run of white space in a signature for which mailauth would take long: its time grows with the square of the length. */
const longWhitespace = /[ \t\r\n]{256}/
const maxSignatures = 10
const maxArcSets = 10

/** A header section without the fields that would cost too much, and which those were. */
export interface LimitedHeaders {
  readonly headers: ParsedHeaders
  /** How many DKIM-Signature fields the message has, and how many of them are to be checked. */
  readonly signatures: number
  readonly checkedSignatures: number
  /** Why no DKIM signature is checked at all; null: they are checked. */
  readonly dkimProblem: string | null
  /** Why the ARC chain is not checked; null: it is checked. */
  readonly arcProblem: string | null
  /** Is there a signature left that covers the body? */
  readonly needsBody: boolean
}

/** Is a header section small enough to be parsed? */
export function isReadableHeader(header: Buffer): boolean {
  if (header.length > maxHeaderBytes) return false
  let lines = 0
  for (let at = header.indexOf(10); at >= 0; at = header.indexOf(10, at + 1)) if (++lines > maxHeaderLines) return false
  return true
}

/** Bounds the work on one message: only the first ten signatures, at most ten ARC sets, no oversized fields. */
export function limitHeaders(headers: ParsedHeaders): LimitedHeaders {
  const all = headers.parsed
  const signatures = all.filter(field => field.key === 'dkim-signature')
  const checked = new Set(signatures.filter(isSmall).slice(0, maxSignatures))
  const dkimProblem = findDkimProblem(all)
  const arcProblem = findArcProblem(all)
  const parsed = all.filter(field => {
    if (field.key === 'dkim-signature') return dkimProblem === null && checked.has(field)
    if (isArc(field)) return arcProblem === null
    return field.key !== 'from' || isSmall(field)
  })
  return {
    headers: { parsed: parsed.length === all.length ? all : parsed, original: headers.original },
    signatures: signatures.length,
    checkedSignatures: dkimProblem === null ? checked.size : 0,
    dkimProblem,
    arcProblem,
    needsBody: parsed.some(field => field.key === 'dkim-signature' || field.key === 'arc-message-signature'),
  }
}

function findDkimProblem(all: readonly HeaderField[]): string | null {
  if (all.length > maxFields) return `more than ${maxFields} header fields`
  const isOversized = all.some(field => field.key === 'content-type' && field.line.length > maxFieldBytes)
  return isOversized ? `a Content-Type field of more than ${maxFieldBytes} bytes` : null
}

function findArcProblem(all: readonly HeaderField[]): string | null {
  const arc = all.filter(isArc)
  if (arc.length === 0) return null
  if (all.length > maxFields) return `more than ${maxFields} header fields`
  if (arc.length > maxArcSets * 3) return `more than ${maxArcSets} ARC sets`
  return arc.every(isSmall) ? null : `an ARC field of more than ${maxFieldBytes} bytes`
}

function isArc({ key }: HeaderField): boolean {
  return key === 'arc-seal' || key === 'arc-message-signature' || key === 'arc-authentication-results'
}

function isSmall({ line }: HeaderField): boolean {
  return line.length <= maxFieldBytes && (line.length < 256 || !longWhitespace.test(line.toString('latin1')))
}
