import type { HeaderField } from '../header.ts'
import { htmlToText } from '../html-to-text.ts'
import { returnedMessageStart } from './bounce-phrases.ts'
import { decodeEncodedWords, fieldOf, type ReportMessage } from './report-mime.ts'
import { isReturnedMessageType } from './returned-message.ts'

/** What a notification says of its cause is short; what comes after is not read. */
const maxNotification = 16 * 1024
const maxSearched = 64 * 1024
const maxHtml = 32 * 1024

const mailSystem =
  /\b(?:mailer[-_ ]?daemon|mail[-_ ]?daemon|post_?master|mdaemon|mailsystem|mail[-_ ]delivery|delivery[-_ ]?(?:sub)?system|delivery[-_ ]?(?:status|failure|notification)|bounces?|ndr|sysadmin|system administrator|mail administrator|mail router|internet mail delivery|autoresponder|daemon|no[-_]?reply[-_]?mail|mailagent|mms[c]?|symantec_antivirus|exim|hostmaster|interscan)\b|^<>$|系统退信|邮件系统|メール(?:システム|エラー)/i

/** May a mail system have written this, as far as its header tells? */
export function isFromMailSystem(fields: readonly HeaderField[]): boolean {
  const from = decodeEncodedWords(fieldOf(fields, 'from') ?? '')
  return mailSystem.test(from) || noReply.test(from) || fieldOf(fields, 'return-path')?.trim() === '<>'
}

const noReply = /\bno[-_]?reply@/i

/** It need not have the name of one where it is a report, without its machine-readable part, that returns a message. */
export function isWrittenByMailSystem({ fields, type, parts }: ReportMessage): boolean {
  const from = decodeEncodedWords(fieldOf(fields, 'from') ?? '')
  if (isPersonalReply(fields)) return false
  if (isFromMailSystem(fields) && !noReply.test(from)) return true
  if (!parts.some(part => isReturnedMessageType(part.type))) return false
  return type.parameters.get('report-type')?.toLowerCase() === 'delivery-status' || noReply.test(from)
}

/** A postmaster is a person too, who answers. */
function isPersonalReply(fields: readonly HeaderField[]): boolean {
  const isReply = /^\s*(?:re|aw|sv|fwd?|wg)\s*:/i.test(decodeEncodedWords(fieldOf(fields, 'subject') ?? ''))
  return isReply && fieldOf(fields, 'in-reply-to') !== undefined && fieldOf(fields, 'auto-submitted') === undefined
}

/** What the mail system wrote itself: its text, up to where the returned message begins. */
export function notificationText({ parts }: ReportMessage): string {
  const own = parts.slice(
    0,
    Math.max(
      parts.findIndex(part => isReturnedMessageType(part.type)),
      0,
    ) || parts.length,
  )
  const plain = own.filter(
    reportPart => reportPart.type === 'text/plain' || reportPart.type === 'message/delivery-status',
  )
  const html = own
    .filter(reportPart => reportPart.type === 'text/html')
    .map(reportPart => htmlToText(reportPart.text.slice(0, maxHtml)))
  const written = plain.some(reportPart => reportPart.text.trim() !== '')
    ? plain.map(reportPart => reportPart.text)
    : html
  const text = tidy(written.join('\n\n').slice(0, maxSearched))
  const end = text.search(returnedMessageStart)
  return text.slice(0, Math.min(end < 0 ? text.length : end, maxNotification))
}

/** Without runs of white space: what looks for words would go through them again and again. */
function tidy(text: string): string {
  return text.replace(/[^\S\n]+/g, ' ').replace(/ ?\n ?(?:\n ?)+/g, '\n\n')
}
