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
 * stands for one recipient, whatever the report names; or by naming an email, as only who got the message can, in a mailbox
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

/** For a message to a bounce address that is no report: an auto-reply is ignored, a person gets a refusal. */
function refuseOrIgnore(mail: ReportMessage, kind: Report['kind'], log: Log): void {
  reportsCounter.inc({ outcome: kind === 'auto-reply' ? kind : 'unrecognized' })
  if (kind === 'auto-reply') return
  if (mail.mailFrom !== '') throw refuseMail('reports_only')
  const emailIds = mail.recipients.map(recipient => recipient.bounceOf?.emailId)
  log.warn({ ...messageLogKeys(mail), email_ids: emailIds }, 'ignored unrecognised bounce report')
}

/** A message that is being received is logged by its transaction, one that was in quarantine by its own id. */
function messageLogKeys({ id }: ReportMessage) {
  return isId('msg', id) ? { message_id: id } : { transaction_id: id }
}

/** The servers that messages were relayed to, where the report has no later status. */
async function relayTargetsOf(
  emails: readonly ReportedEmail[],
  report: Report,
  resolver: Resolver | undefined,
  signal: AbortSignal,
): Promise<ReadonlyMap<ReportedEmail, RelayTarget>> {
  const relayed = emails.flatMap(email =>
    report.kind !== 'complaint' && email.reported?.action === 'relayed'
      ? { email, recipient: email.recipient, reported: email.reported }
      : [],
  )
  if (!resolver || relayed.length === 0) return new Map()
  const targets = await findRelayTargets(resolver, relayed, report, signal)
  return new Map(relayed.flatMap(({ email }, i) => (targets[i] ? [[email, targets[i]] as const] : [])))
}

function deliveryReport(
  mail: ReportMessage,
  report: Report,
  email: ReportedEmail,
  relayedTo: RelayTarget | undefined,
): DeliveryReport | null {
  const { emailId, recipient, reported, isDoubtful } = email
  const isComplaint = report.kind === 'complaint'
  if (!isComplaint && !reported) return null
  const type = isComplaint ? 'complained' : eventTypeOf(reported?.action ?? 'failed', relayedTo)
  const { smtpCode = null, enhancedCode = null, diagnostic = null } = isComplaint ? {} : (reported ?? {})
  const classification = classifyBounce({ smtpCode, enhancedCode, text: diagnostic })
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
      repeatKey: repeatKey(email, type, report, { smtpCode, enhancedCode, detail }),
    },
    bounce: type === 'bounced' ? { ...classification, ...(isDoubtful && { suppress: 'never' }) } : null,
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
