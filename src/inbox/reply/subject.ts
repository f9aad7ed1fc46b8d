import { truncate } from '../../mail/text.ts'

const maxSubject = 998

// The prefixes of mail programs in several languages, some with a count: `Re[2]:`.
const count = '\\s?(?:\\[\\d{1,3}\\]|\\(\\d{1,3}\\)|\\^\\d{1,3})?\\s?[:：]\\s*'
const replyPrefix = new RegExp(`^(?:re|aw|antw|antwort|sv|vs|rif|res|odp|ynt|回复|回覆|答复|答覆|返信)${count}`, 'i')
const forwardPrefix = new RegExp(`^(?:fwd?|wg|tr|rv|enc|vl|vb|pd|转发|轉寄|転送)${count}`, 'i')

/** The subject of a reply: `Re: ` once, in place of the prefixes of earlier replies. RFC 5322 §3.6.5. */
export function replySubject(subject: string): string {
  return withPrefix('Re:', subject, replyPrefix)
}

/** The subject of a forwarded message: `Fwd: ` once, in place of the prefixes of earlier forwards. */
export function forwardSubject(subject: string): string {
  return withPrefix('Fwd:', subject, forwardPrefix)
}

function withPrefix(prefix: string, subject: string, earlier: RegExp): string {
  let rest = subject.trim()
  for (let match = earlier.exec(rest); match; match = earlier.exec(rest)) rest = rest.slice(match[0].length)
  return truncate(`${prefix} ${rest}`.trim(), maxSubject)
}
