import { truncate } from '../../mail/text.ts'

const maxSubject = 998

// What mail programs of several languages put before a subject, some with a count: `Re[2]:`.
const count = '\\s?(?:\\[\\d{1,3}\\]|\\(\\d{1,3}\\)|\\^\\d{1,3})?\\s?[:：]\\s*'
const replyMark = new RegExp(`^(?:re|aw|antw|antwort|sv|vs|rif|res|odp|ynt|回复|回覆|答复|答覆|返信)${count}`, 'i')
const forwardMark = new RegExp(`^(?:fwd?|wg|tr|rv|enc|vl|vb|pd|转发|轉寄|転送)${count}`, 'i')

/** The subject of a reply: `Re: ` once, in place of the marks of earlier replies. RFC 5322 §3.6.5. */
export function replySubject(subject: string): string {
  return marked('Re:', subject, replyMark)
}

/** The subject of a forwarded message: `Fwd: ` once, in place of the marks of earlier forwarding. */
export function forwardSubject(subject: string): string {
  return marked('Fwd:', subject, forwardMark)
}

function marked(mark: string, subject: string, earlier: RegExp): string {
  let rest = subject.trim()
  for (let found = earlier.exec(rest); found; found = earlier.exec(rest)) rest = rest.slice(found[0].length)
  return truncate(`${mark} ${rest}`.trim(), maxSubject)
}
