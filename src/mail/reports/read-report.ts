import { readDate } from '../date.ts'
import { type HeaderField, readIdentifiers } from '../header.ts'
import { isFromOutlook, readFeedback } from './arf.ts'
import { isAutomaticReply } from './auto-reply.ts'
import { readDeliveryStatus } from './dsn.ts'
import { isSpecific } from './enhanced-status.ts'
import { isFromMailSystem } from './mail-system.ts'
import { failureCausesIn, readNonstandardBounce } from './nonstandard-bounce.ts'
import type { Report, ReportedRecipient } from './report.ts'
import { fieldOf, parseReportMime, type ReportMessage } from './report-mime.ts'
import { noOriginal, readOriginalMessage } from './returned-message.ts'

/**
 * Reads what a message reports: a delivery status notification (RFC 3464, RFC 6533), a feedback report (RFC 5965), a bounce
 * in a nonstandard form, or an automatic reply (RFC 3834). A message that only writes about such things, or forwards one, is
 * `none`. Pure; reads the first 256 KiB.
 */
export function readReport(message: Buffer): Report {
  const split = parseReportMime(message)
  const messageId = readIdentifiers(fieldOf(split.fields, 'message-id') ?? '')[0] ?? null
  const writtenAt = readDate(fieldOf(split.fields, 'date') ?? '')
  const nothing = { messageId, writtenAt, recipients: [], reportingMta: null, envelopeId: null, feedbackType: null }
  if (!mayReport(split.fields)) return { ...nothing, kind: plainKind(split.fields), original: noOriginal }
  const original = readOriginalMessage(split)
  const feedback = readFeedback(split)
  if (feedback) return { ...nothing, ...feedback, original }
  const status = readDeliveryStatus(split)
  if (status && status.recipients.length > 0) {
    const recipients = withCauses(status.recipients, split)
    return { ...nothing, ...status, recipients, kind: kindOf(recipients), original }
  }
  const bounced = readNonstandardBounce(split, original)
  if (bounced) return { ...nothing, recipients: bounced, kind: kindOf(bounced), original }
  return { ...nothing, kind: plainKind(split.fields), original }
}

/** Whether the body may hold a report, judging by the header alone. */
export function mayReport(fields: readonly HeaderField[]): boolean {
  return (
    /^\s*multipart\/report/i.test(fieldOf(fields, 'content-type') ?? '') ||
    isFromMailSystem(fields) ||
    isFromOutlook(fields)
  )
}

function plainKind(fields: readonly HeaderField[]): 'auto-reply' | 'none' {
  return isAutomaticReply(fields) ? 'auto-reply' : 'none'
}

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

/** The worst that is reported of any recipient. */
function kindOf(recipients: readonly ReportedRecipient[]): Report['kind'] {
  const actions = new Set(recipients.map(recipient => recipient.action))
  if (actions.has('failed')) return 'bounce'
  if (actions.has('delayed')) return 'delayed'
  return actions.has('delivered') ? 'delivered' : 'relayed'
}
