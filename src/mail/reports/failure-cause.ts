import { oneLine } from '../text.ts'
import { findEnhancedStatus, findReply } from './enhanced-status.ts'
import { noticeText, notificationText } from './mail-system.ts'
import { indexOfAddress, recipientLine } from './named-recipients.ts'
import type { ReportedRecipient } from './report.ts'
import type { ReportMessage } from './report-mime.ts'

// What the text of a report says of each of its recipients.

const maxDiagnostic = 1000

export type FailureCause = Pick<ReportedRecipient, 'enhancedCode' | 'smtpCode' | 'diagnostic'>

/** A function that finds the cause for one of these recipients in the text of a report, where its fields give none. */
export function failureCausesIn(message: ReportMessage, all: readonly string[]): (recipient: string) => FailureCause {
  const text = notificationText(message)
  return recipient => causeOf(recipient, all, text)
}

/** The cause for one of these recipients in the text: the quoted reply, or the words. */
export function causeOf(recipient: string, all: readonly string[], text: string): FailureCause {
  const own = all.length === 1 ? withoutGreeting(text) : passageAbout(recipient, all, text)
  const passage = all.length === 1 && findReply(own) === null && findReply(text) !== null ? text : own
  const reply = findReply(passage)
  const quoted = reply === null ? passage : (replyText(passage.slice(reply.at)) ?? passage)
  return {
    enhancedCode: findEnhancedStatus(quoted) ?? findEnhancedStatus(passage),
    smtpCode: reply?.code ?? null,
    diagnostic: oneLine(quoted).slice(0, maxDiagnostic) || null,
  }
}

/** A reply up to an empty line; null: only its code is there, after the text. */
function replyText(fromCode: string): string | null {
  const [reply = ''] = fromCode.split(/\n[ \t]*\n/, 1)
  return /\p{L}{2}/u.test(reply) ? reply : null
}

/** The text about one of several recipients: from its name to that of the next. */
function passageAbout(recipient: string, all: readonly string[], text: string): string {
  const from = indexOfAddress(text, recipient)
  if (from < 0) return text
  const ends = all.flatMap(other => {
    const at = other === recipient ? -1 : indexOfAddress(text, other, from + recipient.length)
    return at > from ? [at] : []
  })
  return text.slice(from, ends.length > 0 ? Math.min(...ends) : text.length)
}

/** A function that gives the words of a report without those about other recipients. */
export function noticesIn(message: ReportMessage, all: readonly string[]): (recipient: string) => string {
  const text = noticeText(message)
  return recipient => {
    const others = all.filter(other => other !== recipient)
    return others.length === 0 ? text : withoutLinesAbout(others, recipient, text)
  }
}

/** Lines are about the recipient that was named last, until an empty line. */
function withoutLinesAbout(others: readonly string[], recipient: string, text: string): string {
  let isAboutOther = false
  const lines = text.split('\n').filter(line => {
    const namesOther = others.some(other => indexOfAddress(line, other) >= 0)
    if (line.trim() === '' || indexOfAddress(line, recipient) >= 0) isAboutOther = false
    else if (namesOther) isAboutOther = true
    return !isAboutOther
  })
  return lines.join('\n')
}

/** The text from the first recipient on, where more than its name follows. */
function withoutGreeting(text: string): string {
  const at = text.search(recipientLine)
  return at > 0 && text.length - at > 60 ? text.slice(at) : text
}
