import { readDate } from '../date.ts'
import { type HeaderField, readIdentifiers } from '../header.ts'
import { oneLine, truncate } from '../text.ts'
import { isFromOutlook, readFeedback } from './arf.ts'
import { isAutomaticReply } from './auto-reply.ts'
import { readDeliveryStatus } from './dsn.ts'
import { isSpecific } from './enhanced-status.ts'
import { failureCausesIn, noticesIn } from './failure-cause.ts'
import { hasMailSystemAuthor, isFromMailSystem, isNotification, notificationText } from './mail-system.ts'
import { readNonstandardBounce } from './nonstandard-bounce.ts'
import type { Report, ReportedRecipient } from './report.ts'
import { decodeEncodedWords, fieldOf, parseReportMime, type ReportMessage } from './report-mime.ts'
import { noOriginal, readOriginalMessage } from './returned-message.ts'

export interface ReportEnvelope {
  /** Whether it came with the null reverse-path, as notifications do (RFC 5321 §4.5.5). */
  readonly hasNullReversePath: boolean
}

/**
 * Reads what a message reports: a delivery status notification (RFC 3464, RFC 6533), a feedback report (RFC 5965), a bounce
 * in a nonstandard form, or an automatic reply (RFC 3834). A message that only writes about such things, or forwards one, is
 * `none`. Pure; reads the first 256 KiB. Without an envelope, its Return-Path tells the reverse-path.
 */
export function readReport(message: Buffer, envelope?: ReportEnvelope): Report {
  const parsed = parseReportMime(message)
  const split = { ...parsed, fields: withReturnPath(parsed.fields, envelope) }
  const messageId = readIdentifiers(fieldOf(split.fields, 'message-id') ?? '')[0] ?? null
  const writtenAt = readDate(fieldOf(split.fields, 'date') ?? '')
  const unknown = { messageId, writtenAt, recipients: [], reportingMta: null, envelopeId: null, feedbackType: null }
  if (!mayReport(split.fields))
    return { ...unknown, kind: plainKind(split.fields), original: noOriginal, words: wordsOf(split) }
  const nothing = { ...unknown, original: readOriginalMessage(split), words: '' }
  const feedback = readFeedback(split)
  if (feedback) return { ...nothing, ...feedback }
  const status = readDeliveryStatus(split)
  if (status && status.recipients.length > 0) {
    const recipients = withNotices(withCauses(status.recipients, split), split)
    return { ...nothing, ...status, recipients, kind: kindOf(recipients) }
  }
  const bounced = readNonstandardBounce(split, nothing.original)
  if (bounced) return { ...nothing, recipients: withNotices(withCauses(bounced, split), split), kind: kindOf(bounced) }
  return { ...nothing, kind: plainKind(split.fields), words: wordsOf(split) }
}

/** The fields as at final delivery (RFC 5321 §4.4): with the null reverse-path, where the envelope has it. */
function withReturnPath(fields: readonly HeaderField[], envelope: ReportEnvelope | undefined): readonly HeaderField[] {
  return envelope?.hasNullReversePath ? [{ name: 'Return-Path', value: '<>' }, ...fields] : fields
}

/** Whether the body may hold a report, judging by the header and the envelope. */
export function mayReport(fields: readonly HeaderField[], envelope?: ReportEnvelope): boolean {
  return (
    /^\s*multipart\/report/i.test(fieldOf(fields, 'content-type') ?? '') ||
    isFromMailSystem(withReturnPath(fields, envelope)) ||
    isFromOutlook(fields)
  )
}

const maxWords = 1000

/** What a message says that is no report of a known form. */
function wordsOf(message: ReportMessage): string {
  const subject = decodeEncodedWords(fieldOf(message.fields, 'subject') ?? '')
  const words = [subject, notificationText(message)].map(oneLine).filter(text => text !== '')
  return truncate(words.join(': '), maxWords)
}

/** What mail systems notify of is no automatic reply, though some mark it so. */
function plainKind(fields: readonly HeaderField[]): 'auto-reply' | 'none' {
  const isFromSystem = isNotification(fields) && hasMailSystemAuthor(fields)
  return isAutomaticReply(fields) && !isFromSystem ? 'auto-reply' : 'none'
}

/** The text is searched for so many recipients at most. */
const maxCausesFromText = 20

/** Adds causes from the text: OpenSMTPD writes `Status: 5.0.0`, and the reply only in the text. */
function withCauses(recipients: readonly ReportedRecipient[], message: ReportMessage): readonly ReportedRecipient[] {
  const hasCause = ({ action, diagnostic, enhancedCode }: ReportedRecipient) =>
    action === 'delivered' || action === 'relayed' || diagnostic !== null || isSpecific(enhancedCode ?? '.0')
  const some = recipients.slice(0, maxCausesFromText)
  if (some.every(hasCause)) return recipients
  const causeOf = failureCausesIn(
    message,
    some.map(recipient => recipient.finalRecipient),
  )
  return recipients.map((recipient, i) => {
    if (i >= maxCausesFromText || hasCause(recipient)) return recipient
    const words = causeOf(recipient.finalRecipient)
    return { ...recipient, ...words, enhancedCode: words.enhancedCode ?? recipient.enhancedCode }
  })
}

/** Adds what the notification says in words of those that failed. */
function withNotices(recipients: readonly ReportedRecipient[], message: ReportMessage): readonly ReportedRecipient[] {
  const noticeOf = noticesIn(
    message,
    recipients.map(recipient => recipient.finalRecipient),
  )
  return recipients.map((recipient, i) => {
    if (i >= maxCausesFromText || recipient.action !== 'failed') return recipient
    return { ...recipient, notice: noticeOf(recipient.finalRecipient) }
  })
}

/** The worst that is reported of any recipient. */
function kindOf(recipients: readonly ReportedRecipient[]): Report['kind'] {
  const actions = new Set(recipients.map(recipient => recipient.action))
  if (actions.has('failed')) return 'bounce'
  if (actions.has('delayed')) return 'delayed'
  return actions.has('delivered') ? 'delivered' : 'relayed'
}
