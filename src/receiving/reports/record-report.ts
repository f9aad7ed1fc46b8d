import { createHash } from 'node:crypto'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Report, ReportedAction, ReportedRecipient } from '../../mail/reports/report.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import type { DeliveryEvent } from '../../sending/events/delivery-event.ts'
import { classifyBounce } from '../../sending/reports/classify-bounce.ts'
import { type DeliveryReport, recordReports } from '../../sending/reports/reports.ts'
import type { FilingSummary } from '../parse.ts'
import { refuseMail } from '../smtp-refusal.ts'
import { reportsCounter } from './bounce-address.ts'
import { findRelayTargets, type RelayTarget, relayedDetail } from './relayed-dsn.ts'
import { findReportedEmails, type ReportedEmail, type ReportMessage } from './reported-emails.ts'

export interface ReportDeps {
  readonly db: Db
  readonly log: Log
  /** Asked for the recipients' mail exchangers; absent: a relayed message is never known to be delivered. */
  readonly resolver?: Resolver | undefined
}

/**
 * Records what a message reports about emails we sent. Resolves after the commit; the same report again changes nothing.
 *
 * Anyone may write a report, so it counts only as far as it is tied to an email: by the bounce address it came to, which
 * stands for one recipient, whatever the report says; or by naming an email, as only who got the message can, in a mailbox
 * of the organization that sent it, and then for the recipients it names. Where the email had several, who all know its id,
 * nobody is suppressed for it. Any other report changes nothing.
 * @throws SmtpRefusal reports_only
 */
export async function recordReport(
  mail: ReportMessage,
  { report, isAutomaticReply }: Pick<FilingSummary, 'report' | 'isAutomaticReply'>,
  { db, log, resolver }: ReportDeps,
): Promise<void> {
  const kind = report?.kind ?? (isAutomaticReply ? 'auto-reply' : 'none')
  if (!report || kind === 'none' || kind === 'auto-reply') {
    if (mail.recipients.some(recipient => recipient.bounceOf)) refuseOrIgnore(mail, kind, log)
    return
  }
  const emails = await findReportedEmails(db, mail, report)
  const relayed = await relayTargetsOf(emails, report, resolver, mail.signal)
  const reports = emails.flatMap(email => deliveryReport(mail, report, email, relayed.get(email)) ?? [])
  const isNew = await inTransaction(db, tx => recordReports(tx, reports, mail.receivedAt))
  for (const [i, { event }] of reports.entries()) {
    reportsCounter.inc({ outcome: isNew[i] ? kind : 'repeated' })
    log.info(
      { email_id: event.emailId, ...messageLogKeys(mail), report: kind, type: event.type, is_new: isNew[i] === true },
      'recorded a delivery report',
    )
  }
  if (reports.length === 0) reportsCounter.inc({ outcome: 'unattributed' })
}

/** What comes to a bounce address and reports nothing: a note of absence is let go, a person is told. */
function refuseOrIgnore(mail: ReportMessage, kind: Report['kind'], log: Log): void {
  reportsCounter.inc({ outcome: kind === 'auto-reply' ? kind : 'unrecognized' })
  if (kind === 'auto-reply') return
  if (mail.mailFrom !== '') throw refuseMail('reports_only')
  const emailIds = mail.recipients.map(recipient => recipient.bounceOf?.emailId)
  log.warn({ ...messageLogKeys(mail), email_ids: emailIds }, 'let a report go that says nothing in a known form')
}

/** For the log: a message that is coming in goes by its transaction, one that waited in quarantine by its own id. */
function messageLogKeys({ id }: ReportMessage) {
  return isId('msg', id) ? { message_id: id } : { transaction_id: id }
}

/** Whom those were relayed to of whom the report says no more than that. */
async function relayTargetsOf(
  subjects: readonly ReportedEmail[],
  report: Report,
  resolver: Resolver | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<ReportedEmail, RelayTarget>> {
  const relayed = subjects.flatMap(subject =>
    report.kind !== 'complaint' && subject.reported?.action === 'relayed'
      ? { subject, ...subject, said: subject.reported }
      : [],
  )
  if (!resolver || relayed.length === 0) return new Map()
  const found = await findRelayTargets(resolver, relayed, report, signal)
  return new Map(relayed.flatMap(({ subject }, i) => (found[i] ? [[subject, found[i]] as const] : [])))
}

function deliveryReport(
  mail: ReportMessage,
  report: Report,
  subject: ReportedEmail,
  relayedTo: RelayTarget | undefined,
): DeliveryReport | null {
  const { emailId, recipient, reported, isDoubtful } = subject
  const isComplaint = report.kind === 'complaint'
  if (!isComplaint && !reported) return null
  const type = isComplaint ? 'complained' : eventTypeOf(reported?.action ?? 'failed', relayedTo)
  const { smtpCode = null, enhancedCode = null, diagnostic = null } = isComplaint ? {} : (reported ?? {})
  const meant = classifyBounce({ smtpCode, enhancedCode, text: diagnostic })
  const detail = isComplaint ? `Complaint (${report.feedbackType ?? 'abuse'})` : diagnostic
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
      repeatKey: repeatKey(subject, type, report, { smtpCode, enhancedCode, detail }),
    },
    bounce: type === 'bounced' ? { ...meant, ...(isDoubtful && { suppress: 'never' }) } : null,
  }
}

/**
 * To have been passed on to a server that reports nothing (RFC 3464 §2.3.3) is no delivery, unless that is the recipient's
 * own mail exchanger: further than to it nobody else brings a message.
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
  said: ReportedRecipient | null,
  relayedTo: RelayTarget | undefined,
): Readonly<Record<string, unknown>> {
  const told = {
    action: report.kind === 'complaint' ? null : said?.action,
    final_recipient: said?.finalRecipient,
    reporting_mta: report.reportingMta,
    remote_mta: said?.remoteMta,
    mail_exchanger: relayedTo?.exchanger,
    feedback_type: report.feedbackType,
  }
  return Object.fromEntries(
    Object.entries(told).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  )
}

/** What is told of a recipient is told once, by whatever copy of the report; each delay is news, where it is another one. */
function repeatKey(
  { emailId, recipient }: ReportedEmail,
  type: DeliveryEvent['type'],
  report: Report,
  { smtpCode, enhancedCode, detail }: Pick<DeliveryEvent, 'smtpCode' | 'enhancedCode' | 'detail'>,
): Buffer {
  const told = [
    emailId,
    recipient.toLowerCase(),
    type,
    report.feedbackType,
    smtpCode,
    enhancedCode,
    detail,
    report.reportingMta,
  ]
  const own = type === 'delayed' ? report.messageId : null
  return createHash('sha256')
    .update(JSON.stringify(['dsn', ...told, own]))
    .digest()
}
