import { bodyStart, dropFields, hasField } from '../../mail/header.ts'
import {
  type MessageSummary,
  readMessageSummary,
  readSummaryWithoutText,
  type SummaryWithoutText,
} from '../../mail/message.ts'
import { parseLimits } from '../../mail/mime-parser.ts'
import { withCrlf } from '../../mail/seven-bit/crlf.ts'
import { toSevenBit } from '../../mail/seven-bit/seven-bit.ts'

/** A message that a client composed, as it will be sent, and what is in it. */
export interface ReadMessage {
  readonly kind: 'message'
  /** CRLF line ends, 7 bit, a valid header. */
  readonly bytes: Buffer
  readonly summary: SummaryWithoutText
  /** Of a message with an idempotency key, which is for what the message says; null: it has none. */
  readonly text: Pick<MessageSummary, 'text' | 'html'> | null
}

/** `malformed`: it cannot be sent; `problem` is half a sentence. */
export type MessageReading = ReadMessage | { readonly kind: 'malformed'; readonly problem: string }

/** Does what the HTTP header Idempotency-Key does. */
export const idempotencyKeyField = 'X-Mailroom-Idempotency-Key'

/** RFC 5322 §2.1.1: octets of a line, without its CRLF. */
const maxLineOctets = 998
const field = /^[!-9;-~]+[ \t]*:/

/**
 * Makes a message fit to be sent, and reads it: what is read is what is sent. Line ends become CRLF, so that no server takes
 * another line end for the end of the message, and all of it 7 bit, so that no server changes what is signed.
 */
export async function readMessage(received: Buffer): Promise<MessageReading> {
  const lines = withCrlf(received)
  const start = bodyStart(lines) ?? lines.length
  const head = withoutEmptyContinuations(lines.subarray(0, start))
  const problem = headerProblem(head)
  if (problem) return { kind: 'malformed', problem }
  const bytes = toSevenBit(Buffer.concat([head, lines.subarray(start)]))
  const whole = hasField(bytes, idempotencyKeyField.toLowerCase()) ? await readMessageSummary(bytes) : null
  const summary = whole ?? (await readSummaryWithoutText(bytes))
  return summary.problem === null
    ? { kind: 'message', bytes, summary, text: whole && { text: whole.text, html: whole.html } }
    : { kind: 'malformed', problem: `it cannot be parsed: ${summary.problem}` }
}

/** A line of white space within a field is obsolete (RFC 5322 §4.2), and ends the header for some readers. */
function withoutEmptyContinuations(head: Buffer): Buffer {
  const text = head.toString('latin1')
  return /\r\n[ \t]+\r\n/.test(text) ? Buffer.from(text.replace(/(?<=\r\n)(?:[ \t]+\r\n)+/g, ''), 'latin1') : head
}

/** Readers disagree on where a header with other lines ends. RFC 5322 §2.2. */
function headerProblem(head: Buffer): string | undefined {
  if (head.length > parseLimits.maxHeaderBytes) return `its header has more than ${parseLimits.maxHeaderBytes} octets`
  const lines = head
    .toString('latin1')
    .replace(/(?:\r\n)+$/, '')
    .split('\r\n')
  if (lines.filter(line => !/^[ \t]/.test(line)).length > parseLimits.maxHeaders)
    return `its header has more than ${parseLimits.maxHeaders} fields`
  for (const [i, line] of lines.entries()) {
    if (line.includes('\0')) return `line ${i + 1} of its header contains NUL`
    if (line.length > maxLineOctets) return `line ${i + 1} of its header has more than ${maxLineOctets} octets`
    if (!field.test(line) && (i === 0 || !/^[ \t]/.test(line)))
      return `line ${i + 1} of its header is not a header field`
  }
  return undefined
}

/** The message without what must not reach recipients: Bcc, and the fields by which a client speaks to Mailroom alone. */
export function withoutPrivateFields(message: Buffer, withoutMessageId: boolean): Buffer {
  const start = bodyStart(message) ?? message.length
  const head = dropFields(
    message.subarray(0, start),
    ({ key }) => isPrivate(key) || (withoutMessageId && key === 'message-id'),
  )
  const separator = bodyStart(message) === null ? Buffer.from('\r\n') : Buffer.alloc(0)
  return Buffer.concat([head, separator, message.subarray(start)])
}

function isPrivate(key: string): boolean {
  return key === 'bcc' || key === 'resent-bcc' || key === 'return-path' || key.startsWith('x-mailroom-')
}
