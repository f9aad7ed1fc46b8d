import { type Instant, millisecondsOf } from '../base/clock.ts'

/** What stands before a message in a mailbox file. */
export interface MboxSeparator {
  /** The reverse-path; empty: the null one. */
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
  const time = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(each => two(each)).join(':')
  const sender = mailFrom.replace(/[\s\p{Cc}]+/gu, '_') || 'MAILER-DAEMON'
  return `From ${sender} ${date} ${time} ${at.getUTCFullYear()}\n`
}

/** A line that is longer than this, in bytes, is not held back until its end is there. */
const maxHeldBytes = 64 * 1024

/**
 * A message as it stands in a file of the format mboxrd: the separator, its lines with LF, `>` before each that begins with
 * `From ` after any number of `>`, an empty line. Who takes one `>` off such lines again has all its lines. Bytes pass
 * through as they come, whatever the length of the message.
 */
export async function* mboxrd(message: AsyncIterable<Buffer>, separator: MboxSeparator): AsyncGenerator<Buffer> {
  yield Buffer.from(fromLine(separator))
  let held = ''
  let isLineStart = true
  for await (const chunk of message) {
    const text = held + chunk.toString('latin1')
    const end = wholeUpTo(text)
    held = text.slice(end)
    if (end === 0) continue
    yield encoded(text.slice(0, end), isLineStart)
    isLineStart = text[end - 1] === '\n'
  }
  if (held !== '') yield encoded(held, isLineStart)
  const endsLine = held === '' ? isLineStart : held.endsWith('\n')
  yield Buffer.from(endsLine ? '\n' : '\n\n')
}

/** How much of it can be written: whole lines, or all but a last CR of a line that is very long. */
function wholeUpTo(text: string): number {
  const lines = text.lastIndexOf('\n') + 1
  if (text.length - lines <= maxHeldBytes) return lines
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
