import type { HeaderField } from '../header.ts'
import { htmlToText } from '../html-to-text/html-to-text.ts'
import { isAutomaticReply, isFromList } from './auto-reply.ts'
import { returnedMessageStart } from './bounce-phrases.ts'
import { decodeEncodedWords, fieldOf, type ReportMessage } from './report-mime.ts'
import { isReturnedMessageType, type OriginalMessage } from './returned-message.ts'

/** Notifications are short: longer text is not read. In characters. */
const maxNotification = 16 * 1024
const maxSearched = 64 * 1024
const maxHtml = 32 * 1024

const mailSystem =
  /\b(?:mailer[-_ ]?daemon|mail[-_ ]?daemon|post_?master|mdaemon|mailsystem|mail[-_ ]delivery|delivery[-_ ]?(?:sub)?system|delivery[-_ ]?(?:status|failure|notification)|bounces?|ndr|sysadmin|system administrator|mail administrator|mail router|internet mail delivery|autoresponder|daemon|no[-_]?reply[-_]?mail|mailagent|mms[c]?|symantec_antivirus|exim|hostmaster|interscan)\b|mail[-_ ]?(?:gateway|service|server)\b|^<>$|系统退信|邮件系统|メール(?:システム|エラー)/i

/** Whether its header suggests that a mail system wrote the message. */
export function isFromMailSystem(fields: readonly HeaderField[]): boolean {
  return noReply.test(authorOf(fields)) || isNotification(fields) || hasMailSystemAuthor(fields)
}

/** Whether it came with the null reverse-path, by Return-Path: a notification (RFC 5321 §4.5.5). */
export function isNotification(fields: readonly HeaderField[]): boolean {
  return fieldOf(fields, 'return-path')?.trim() === '<>'
}

/** Whether From names a mail system or, in a notification, nobody. */
export function hasMailSystemAuthor(fields: readonly HeaderField[]): boolean {
  const author = authorOf(fields)
  return mailSystem.test(author) || (isNotification(fields) && !/@./.test(author))
}

function authorOf(fields: readonly HeaderField[]): string {
  return decodeEncodedWords(fieldOf(fields, 'from') ?? '').trim()
}

const noReply = /\bno[-_]?reply@/i

/**
 * Whether a mail system wrote the message: by its author; because it is a report that returns a message, though without a
 * machine-readable part; or because it is a notification that returns one, whoever its author is.
 */
export function isWrittenByMailSystem({ fields, type, parts }: ReportMessage, original: OriginalMessage): boolean {
  const returnsMessage = parts.some(part => isReturnedMessageType(part.type))
  const quotesMessage = returnsMessage || (original.messageId !== null && !isAutomaticReply(fields))
  if (isPersonalReply(fields) && !(isNotification(fields) && hasMailSystemAuthor(fields) && quotesMessage)) return false
  const isNoReply = noReply.test(authorOf(fields))
  if (hasMailSystemAuthor(fields) && !isNoReply) return true
  if (isNotification(fields)) return quotesMessage && !isPassedOn(fields)
  if (!returnsMessage) return false
  return type.parameters.get('report-type')?.toLowerCase() === 'delivery-status' || isNoReply
}

/** Whether a person or a list passed it on. */
export function isPassedOn(fields: readonly HeaderField[]): boolean {
  return replySubject.test(subjectOf(fields)) || isFromList(fields)
}

const replySubject = /^\s*(?:re|aw|sv|fwd?|wg)\s*:/i

function subjectOf(fields: readonly HeaderField[]): string {
  return decodeEncodedWords(fieldOf(fields, 'subject') ?? '')
}

/** Whether a person replied: postmasters are people too. */
function isPersonalReply(fields: readonly HeaderField[]): boolean {
  const isReply = replySubject.test(subjectOf(fields))
  return isReply && fieldOf(fields, 'in-reply-to') !== undefined && fieldOf(fields, 'auto-submitted') === undefined
}

/** The text that the mail system wrote itself, up to where the returned message begins. */
export function notificationText(message: ReportMessage): string {
  return textOf(message, ['text/plain', 'message/delivery-status'])
}

/** As {@link notificationText}, without the fields of a delivery status. */
export function noticeText(message: ReportMessage): string {
  return textOf(message, ['text/plain'])
}

function textOf({ parts }: ReportMessage, types: readonly string[]): string {
  const own = parts.slice(
    0,
    Math.max(
      parts.findIndex(part => isReturnedMessageType(part.type)),
      0,
    ) || parts.length,
  )
  const plain = own.filter(part => types.includes(part.type))
  const html = own.filter(part => part.type === 'text/html').map(part => htmlToText(part.text.slice(0, maxHtml)))
  const written = plain.some(part => part.text.trim() !== '') ? plain.map(part => part.text) : html
  const text = collapseSpace(written.join('\n\n').slice(0, maxSearched))
  const end = text.search(returnedMessageStart)
  return text.slice(0, Math.min(end < 0 ? text.length : end, maxNotification))
}

/** Without runs of white space, which would make the search for phrases slow. */
function collapseSpace(text: string): string {
  return text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n ?(?:\n ?)+/g, '\n\n')
}
