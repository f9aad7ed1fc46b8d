import type { HeaderField, ParsedHeaders } from 'mailauth/lib/tools.js'

/** A header section that is longer is not read at all. */
export const maxHeaderBytes = 256 * 1024
const maxHeaderLines = 10_000
const maxFields = 1000
/** Of a field that is taken apart: From, Content-Type, the signatures. */
const maxFieldBytes = 8 * 1024
/** White space in a row in a signature: mailauth takes time with its square. */
const longWhitespace = /[ \t\r\n]{256}/
const maxSignatures = 10
const maxArcSets = 10

/** A header section with what would cost too much left out, and what that was. */
export interface LimitedHeaders {
  readonly headers: ParsedHeaders
  /** DKIM-Signature fields in the message, and those that are left to check. */
  readonly signatures: number
  readonly checkedSignatures: number
  /** Why no DKIM signature is checked; null: they are. */
  readonly dkimProblem: string | null
  readonly arcProblem: string | null
  /** Is there anything left that signs the body? */
  readonly needsBody: boolean
}

/** Is a header section small enough to be taken apart into fields? */
export function isReadableHeader(header: Buffer): boolean {
  if (header.length > maxHeaderBytes) return false
  let lines = 0
  for (let at = header.indexOf(10); at >= 0; at = header.indexOf(10, at + 1)) if (++lines > maxHeaderLines) return false
  return true
}

/** Keeps the work on one message within bounds: the first ten signatures, ARC of at most ten sets, no giant fields. */
export function limitHeaders(headers: ParsedHeaders): LimitedHeaders {
  const all = headers.parsed
  const signatures = all.filter(headerField => headerField.key === 'dkim-signature')
  const checked = new Set(signatures.filter(isModest).slice(0, maxSignatures))
  const dkimProblem = findDkimProblem(all)
  const arcProblem = findArcProblem(all)
  const parsed = all.filter(headerField => {
    if (headerField.key === 'dkim-signature') return dkimProblem === null && checked.has(headerField)
    if (isArc(headerField)) return arcProblem === null
    return headerField.key !== 'from' || isModest(headerField)
  })
  return {
    headers: { parsed: parsed.length === all.length ? all : parsed, original: headers.original },
    signatures: signatures.length,
    checkedSignatures: dkimProblem === null ? checked.size : 0,
    dkimProblem,
    arcProblem,
    needsBody: parsed.some(
      headerField => headerField.key === 'dkim-signature' || headerField.key === 'arc-message-signature',
    ),
  }
}

function findDkimProblem(all: readonly HeaderField[]): string | null {
  if (all.length > maxFields) return `more than ${maxFields} header fields`
  const giant = all.some(headerField => headerField.key === 'content-type' && headerField.line.length > maxFieldBytes)
  return giant ? `a Content-Type field of more than ${maxFieldBytes} bytes` : null
}

function findArcProblem(all: readonly HeaderField[]): string | null {
  const arc = all.filter(isArc)
  if (arc.length === 0) return null
  if (all.length > maxFields) return `more than ${maxFields} header fields`
  if (arc.length > maxArcSets * 3) return `more than ${maxArcSets} ARC sets`
  return arc.every(isModest) ? null : `an ARC field of more than ${maxFieldBytes} bytes`
}

function isArc({ key }: HeaderField): boolean {
  return key === 'arc-seal' || key === 'arc-message-signature' || key === 'arc-authentication-results'
}

function isModest({ line }: HeaderField): boolean {
  return line.length <= maxFieldBytes && (line.length < 256 || !longWhitespace.test(line.toString('latin1')))
}
