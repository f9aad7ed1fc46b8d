import type { HeaderField } from '../header.ts'
import { oneLine } from '../text.ts'
import { isAutomaticReply } from './auto-reply.ts'
import {
  bouncePhrases,
  bounceSubjects,
  challengePhrases,
  delayPhrases,
  otherNotices,
  successPhrases,
} from './bounce-phrases.ts'
import { findDeliveryStatusRecipients } from './dsn.ts'
import { findEnhancedStatus, findReply, findReplyCode } from './enhanced-status.ts'
import {
  hasMailSystemAuthor,
  isNotification,
  isPassedOn,
  isWrittenByMailSystem,
  noticeText,
  notificationText,
} from './mail-system.ts'
import { findAddresses, findNamedRecipients, indexOfAddress, recipientLine } from './named-recipients.ts'
import type { ReportedRecipient } from './report.ts'
import { decodeEncodedWords, fieldOf, type ReportMessage } from './report-mime.ts'
import { isReturnedMessageType, type OriginalMessage } from './returned-message.ts'

const maxRecipients = 50
const maxDiagnostic = 1000
const minNotification = 12

/**
 * Reads a bounce that does not follow RFC 3464, as of qmail, Exim, old Exchange and Notes: the sender must be a mail system,
 * and the text or the subject must have the phrases of a bounce, or a notification must be one by all else. Null: it is not a
 * bounce.
 */
export function readNonstandardBounce(
  message: ReportMessage,
  original: OriginalMessage,
): readonly ReportedRecipient[] | null {
  const text = notificationText(message)
  const subject = decodeEncodedWords(fieldOf(message.fields, 'subject') ?? '')
  if (!isWrittenByMailSystem(message, original) && !isWordedAsBounce(message.fields, subject, text)) return null
  const failed = failedIn(message)
  const isBounce =
    failed.length > 0 || hasBouncePhrases(subject, text) || isUnwordedBounce(message, original, subject, text)
  if (!isBounce || text.trim().length < minNotification) return null
  const withFields = findDeliveryStatusRecipients(text)
  if (withFields.length > 0) return withFields
  const named = failed.length > 0 ? failed : without(reportRecipients(message), findNamedRecipients(text))
  const addresses = named.length > 0 ? named : [original.to ?? '']
  const action = delayPhrases.test(`${subject}\n${text}`) ? 'delayed' : 'failed'
  return addresses.slice(0, maxRecipients).map(address => ({
    finalRecipient: address,
    originalRecipient: null,
    action,
    ...causeOf(address, addresses, text),
    notice: '',
    remoteMta: remoteIn(text),
    lastAttemptAt: null,
  }))
}

/** Whether a notification of an author without a known name is a bounce by its subject and by its text. */
function isWordedAsBounce(fields: readonly HeaderField[], subject: string, text: string): boolean {
  if (!isNotification(fields) || isPassedOn(fields) || isAutomaticReply(fields)) return false
  return bounceSubjects.test(subject) && bouncePhrases.test(text)
}

function hasBouncePhrases(subject: string, text: string): boolean {
  if (challengePhrases.test(text)) return isFailureQuoted(text)
  if (bouncePhrases.test(text)) return true
  return bounceSubjects.test(subject) && !successPhrases.test(text)
}

/**
 * Whether a notification of a mail system without a known phrase is a bounce nevertheless: it quotes the refusal of a server
 * or returns the message, and is about nothing else that mail systems write of. Also true of a delay.
 */
function isUnwordedBounce(message: ReportMessage, original: OriginalMessage, subject: string, text: string): boolean {
  const { fields, parts, type } = message
  if (!isNotification(fields) || !hasMailSystemAuthor(fields)) return false
  if (type.parameters.get('report-type')?.toLowerCase() === 'disposition-notification') return false
  const words = `${subject}\n${text}`
  if (delayPhrases.test(words)) return !challengePhrases.test(text)
  if (isFailureQuoted(text)) return true
  const isOther = [challengePhrases, successPhrases, otherNotices].some(phrases => phrases.test(words))
  return !isOther && (original.messageId !== null || parts.some(part => isReturnedMessageType(part.type)))
}

/** Whether the text quotes a permanent refusal with an enhanced status code. */
function isFailureQuoted(text: string): boolean {
  return findEnhancedStatus(text)?.startsWith('5') === true && (findReplyCode(text) ?? 500) >= 500
}

type FailureCause = Pick<ReportedRecipient, 'enhancedCode' | 'smtpCode' | 'diagnostic'>

/** A function that finds the cause for one of these recipients in the text of a report, where its fields give none. */
export function failureCausesIn(message: ReportMessage, all: readonly string[]): (recipient: string) => FailureCause {
  const text = notificationText(message)
  return recipient => causeOf(recipient, all, text)
}

/** X-Failed-Recipients: Exim, Gmail, Mail.ru. */
function failedIn({ fields }: ReportMessage): readonly string[] {
  const values = fields.filter(field => /^x-failed-recipients$/i.test(field.name)).map(field => field.value)
  return findAddresses(values.join(','))
}

/** The recipients of the report itself, who are not those that it reports. */
function reportRecipients({ fields }: ReportMessage): ReadonlySet<string> {
  return new Set(findAddresses(fieldOf(fields, 'to') ?? '').map(address => address.toLowerCase()))
}

function without(excluded: ReadonlySet<string>, addresses: readonly string[]): readonly string[] {
  const others = addresses.filter(address => !excluded.has(address.toLowerCase()))
  return others.length > 0 ? others : addresses
}

/** The cause for one recipient in the text: the quoted reply, or the words. */
function causeOf(recipient: string, all: readonly string[], text: string): FailureCause {
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

function remoteIn(text: string): string | null {
  return (
    /\b(?:host|server|mailer|mta)\s+([a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?\s*[[(](?:\d|[0-9a-f]*:)/i.exec(text)?.[1] ??
    /\bremote host\s+([a-z0-9-]+(?:\.[a-z0-9-]+)+|[0-9a-f.:]+)\s+said/i.exec(text)?.[1] ??
    null
  )
}
