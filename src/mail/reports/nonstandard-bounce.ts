import type { HeaderField } from '../header.ts'
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
import { findEnhancedStatus, findReplyCode } from './enhanced-status.ts'
import { causeOf } from './failure-cause.ts'
import {
  hasMailSystemAuthor,
  isNotification,
  isPassedOn,
  isWrittenByMailSystem,
  notificationText,
} from './mail-system.ts'
import { findAddresses, findNamedRecipients } from './named-recipients.ts'
import type { ReportedRecipient } from './report.ts'
import { decodeEncodedWords, fieldOf, type ReportMessage } from './report-mime.ts'
import { isReturnedMessageType, type OriginalMessage } from './returned-message.ts'

const maxRecipients = 50
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

function remoteIn(text: string): string | null {
  return (
    /\b(?:host|server|mailer|mta)\s+([a-z0-9-]+(?:\.[a-z0-9-]+)+)\.?\s*[[(](?:\d|[0-9a-f]*:)/i.exec(text)?.[1] ??
    /\bremote host\s+([a-z0-9-]+(?:\.[a-z0-9-]+)+|[0-9a-f.:]+)\s+said/i.exec(text)?.[1] ??
    null
  )
}
