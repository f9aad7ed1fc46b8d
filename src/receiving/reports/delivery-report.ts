import { createHash } from 'node:crypto'
import type { Report, ReportedAction, ReportedRecipient } from '../../mail/reports/report.ts'
import type { DeliveryEvent } from '../../sending/events/delivery-event.ts'
import { classifyBounce, findOverruling, type Overruling } from '../../sending/reports/classify-bounce.ts'
import type { DeliveryReport } from '../../sending/reports/reports.ts'
import type { Notice } from '../../sending/reports/sender-reason.ts'
import { type RelayTarget, relayedDetail } from './relayed-dsn.ts'
import { namesOtherThan, type ReportedEmail, type ReportMessage } from './reported-emails.ts'

export interface DeliveryContext {
  /** The server that the message was relayed to. */
  readonly relayedTo: RelayTarget | undefined
  /** Our own name, lower case. */
  readonly hostname: string | undefined
}

/** What a report says of one email and recipient; null: it says nothing of them. */
export function deliveryReport(
  mail: ReportMessage,
  report: Report,
  email: ReportedEmail,
  { relayedTo, hostname }: DeliveryContext,
): DeliveryReport | null {
  const { emailId, recipient, reported, isDoubtful } = email
  const isComplaint = report.kind === 'complaint'
  if (!isComplaint && !reported) return null
  const type = isComplaint ? 'complained' : eventTypeOf(reported?.action ?? 'failed', relayedTo)
  const { smtpCode = null, enhancedCode = null, diagnostic = null } = isComplaint ? {} : (reported ?? {})
  const notice = noticeOf(report, email, hostname)
  const evidence = { smtpCode, enhancedCode, text: diagnostic, notice }
  const overruling = type === 'bounced' ? findOverruling(evidence) : null
  const detail = isComplaint ? `Complaint (${report.feedbackType ?? 'abuse'})` : detailOf(diagnostic, overruling)
  return {
    event: {
      emailId,
      recipient,
      type,
      occurredAt: (isComplaint ? null : reported?.lastAttemptAt) ?? report.writtenAt ?? mail.receivedAt,
      source: 'dsn',
      smtpCode,
      enhancedCode,
      detail: relayedTo && reported ? relayedDetail(relayedTo, reported, report.reportingMta) : detail,
      extra: evidenceOf(report, reported, relayedTo),
      repeatKey: repeatKey(email, type, report, { smtpCode, enhancedCode, detail }),
    },
    bounce: type === 'bounced' ? { ...classifyBounce(evidence), ...(isDoubtful && { suppress: 'never' }) } : null,
  }
}

/** What a report says of a recipient in words, the quoted reply included, and who the sender is to its author. */
export function noticeOf(
  report: Report,
  { reported, recipient, senderNames }: Pick<ReportedEmail, 'reported' | 'recipient' | 'senderNames'>,
  hostname: string | undefined,
): Notice {
  // A server that quotes the reply of another one is on our side.
  const relay = reported?.remoteMta && reported.remoteMta !== report.reportingMta ? report.reportingMta : null
  const hosts = [hostname, relay].flatMap(host => host?.toLowerCase() ?? [])
  return {
    text: [reported?.diagnostic, reported?.notice].filter(Boolean).join('\n\n'),
    senderNames: [...senderNames, ...namesOtherThan(recipient, hosts)],
  }
}

/** The diagnostic, and the reason before it that outweighs it. */
function detailOf(diagnostic: string | null, overruling: Overruling | null): string | null {
  if (overruling === null || diagnostic?.includes(overruling.reason)) return diagnostic
  return [overruling.reason, diagnostic].filter(part => part !== null).join(' | ')
}

/** The events keep the recipient's status: it is not known what happened, and whether anything did. */
export function undeterminedReport(mail: ReportMessage, report: Report | null, email: ReportedEmail): DeliveryReport {
  const { emailId, recipient, status } = email
  const detail = report?.words || 'A notification without text.'
  return {
    event: {
      emailId,
      recipient,
      type: status === 'delayed' ? 'delayed' : 'sent',
      occurredAt: report?.writtenAt ?? mail.receivedAt,
      source: 'dsn',
      detail,
      extra: { action: 'unknown' },
      repeatKey: createHash('sha256')
        .update(JSON.stringify(['notification', emailId, recipient, detail]))
        .digest(),
    },
    bounce: { type: 'undetermined', scope: 'recipient', suppress: 'never' },
  }
}

/**
 * `relayed` (RFC 3464 §2.3.3: passed on to a server that sends no reports) is a delivery only if that server is the
 * recipient's own mail exchanger: nothing beyond it can be known.
 */
function eventTypeOf(
  action: ReportedAction,
  relayedTo: RelayTarget | undefined,
): 'bounced' | 'delayed' | 'delivered' | 'sent' {
  switch (action) {
    case 'failed':
      return 'bounced'
    case 'delayed':
    case 'delivered':
      return action
    case 'relayed':
      return relayedTo?.exchanger ? 'delivered' : 'sent'
    case 'expanded':
      return 'sent'
    default:
      return action satisfies never
  }
}

function evidenceOf(
  report: Report,
  reported: ReportedRecipient | null,
  relayedTo: RelayTarget | undefined,
): Readonly<Record<string, unknown>> {
  const evidence = {
    action: report.kind === 'complaint' ? null : reported?.action,
    final_recipient: reported?.finalRecipient,
    reporting_mta: report.reportingMta,
    remote_mta: reported?.remoteMta,
    mail_exchanger: relayedTo?.exchanger,
    feedback_type: report.feedbackType,
  }
  return Object.fromEntries(
    Object.entries(evidence).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  )
}

/** Each status of a recipient counts once, however many copies of the report come; a delay counts once for each report. */
function repeatKey(
  { emailId, recipient }: ReportedEmail,
  type: DeliveryEvent['type'],
  report: Report,
  { smtpCode, enhancedCode, detail }: Pick<DeliveryEvent, 'smtpCode' | 'enhancedCode' | 'detail'>,
): Buffer {
  const status = [
    emailId,
    recipient.toLowerCase(),
    type,
    report.feedbackType,
    smtpCode,
    enhancedCode,
    detail,
    report.reportingMta,
  ]
  const ownId = type === 'delayed' ? report.messageId : null
  return createHash('sha256')
    .update(JSON.stringify(['dsn', ...status, ownId]))
    .digest()
}
