import { type Instant, millisecondsOf } from '../base/clock.ts'

/** What the separator line before a message in an mbox file says. */
export interface MboxSeparator {
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  readonly receivedAt: Instant
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

/** `From ann@example.com Sat Jan 31 08:15:00 2026`, UTC (RFC 4155, appendix A). */
function fromLine({ mailFrom, receivedAt }: MboxSeparator): string {
  const at = new Date(millisecondsOf(receivedAt))
  const two = (count: number, fill = '0') => String(count).padStart(2, fill)
  const date = `${days[at.getUTCDay()]} ${months[at.getUTCMonth()]} ${two(at.getUTCDate(), ' ')}`
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(part => two(part)).join(':')
  const sender = mailFrom.replace(/[\s\p{Cc}]+/gu, '_') || 'MAILER-DAEMON'
  return `From ${sender} ${date} ${time} ${at.getUTCFullYear()}\n`
}

/** A longer line, in bytes, is written before its end has arrived. */
const maxBufferedBytes = 64 * 1024

/**
 * A message in the mboxrd format: the separator, its lines with LF, an empty line. Lines that begin with `From `, after any
 * number of `>`, get a `>` in front; a reader that removes one `>` from such lines has the original. The message is
 * streamed: memory does not grow with its length.
 */
export async function* mboxrd(message: AsyncIterable<Buffer>, separator: MboxSeparator): AsyncGenerator<Buffer> {
  yield Buffer.from(fromLine(separator))
  let buffered = ''
  let isLineStart = true
  for await (const chunk of message) {
    const text = buffered + chunk.toString('latin1')
    const end = writableLength(text)
    buffered = text.slice(end)
    if (end === 0) continue
    yield encoded(text.slice(0, end), isLineStart)
    isLineStart = text[end - 1] === '\n'
  }
  if (buffered !== '') yield encoded(buffered, isLineStart)
  const endsLine = buffered === '' ? isLineStart : buffered.endsWith('\n')
  yield Buffer.from(endsLine ? '\n' : '\n\n')
}

/** How much of the text can be written: whole lines, or of a very long line all but a final CR. */
function writableLength(text: string): number {
  const lines = text.lastIndexOf('\n') + 1
  if (text.length - lines <= maxBufferedBytes) return lines
  return text.endsWith('\r') ? text.length - 1 : text.length
}

function encoded(text: string, isLineStart: boolean): Buffer {
  const lines = text
    .replaceAll('\r\n', '\n')
    .replace(/(^|\n)(>*From )/g, (whole, before: string, line: string, at: number) => {
      if (before === '' && at === 0 && !isLineStart) return whole
      return `${before}>${line}`
    })
  return Buffer.from(lines, 'latin1')
}
