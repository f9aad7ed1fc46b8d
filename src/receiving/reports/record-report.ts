import { type Db, inTransaction } from '../../base/database/database.ts'
import { isId } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Report } from '../../mail/reports/report.ts'
import type { Resolver } from '../../ports/resolver/port.ts'
import { type DeliveryReport, recordReports } from '../../sending/reports/reports.ts'
import type { FilingSummary } from '../parse.ts'
import { refuseMail } from '../smtp-refusal.ts'
import { reportsCounter } from './bounce-address.ts'
import { deliveryReport, undeterminedReport } from './delivery-report.ts'
import { findRelayTargets, type RelayTarget } from './relayed-dsn.ts'
import { findEmailsByAddress, findReportedEmails, type ReportedEmail, type ReportMessage } from './reported-emails.ts'
import { selectReportCount } from './table.ts'

export interface ReportDeps {
  readonly db: Db
  readonly log: Log
  /** Asked for the recipients' mail exchangers; absent: a relayed message is never known to be delivered. */
  readonly resolver?: Resolver | undefined
  /** Our own name, lower case, by which servers may mean the sender; absent: it is not known. */
  readonly hostname?: string | undefined
}

/**
 * Records what a message reports about emails we sent. Resolves after the commit; the same report again changes nothing.
 *
 * Anyone may write a report, so it counts only as far as it is tied to an email: by the bounce address it came to, which
 * stands for one recipient, whatever the report names; or by naming an email, as only who got the message can, in a mailbox
 * of the organization that sent it, and then for the recipients it names. Where the email had several, who all know its id,
 * nobody is suppressed for it. A notification at a bounce address that has no known form is recorded with its words. Any
 * other message changes nothing.
 * @throws SmtpRefusal reports_only
 */
export async function recordReport(
  mail: ReportMessage,
  { report, isAutomaticReply }: Pick<FilingSummary, 'report' | 'isAutomaticReply'>,
  deps: ReportDeps,
): Promise<void> {
  const kind = report?.kind ?? (isAutomaticReply ? 'auto-reply' : 'none')
  const isForBounceAddress = mail.recipients.some(recipient => recipient.bounceOf)
  if (report && kind !== 'none' && kind !== 'auto-reply') {
    const reports = await recognizedReports(mail, report, deps)
    await record(mail, kind, reports, deps)
    if (reports.length === 0) reportsCounter.inc({ outcome: 'unattributed' })
  } else if (isForBounceAddress) {
    reportsCounter.inc({ outcome: kind === 'auto-reply' ? kind : 'unrecognized' })
    if (kind === 'auto-reply') return
    if (mail.mailFrom !== '') throw refuseMail('reports_only')
    await record(mail, kind, await unrecognizedReports(mail, report, deps), deps)
  }
}

async function recognizedReports(
  mail: ReportMessage,
  report: Report,
  { db, resolver, hostname }: ReportDeps,
): Promise<readonly DeliveryReport[]> {
  const emails = await findReportedEmails(db, mail, report)
  const relayed = await relayTargetsOf(emails, report, resolver, mail.signal)
  return emails.flatMap(email => deliveryReport(mail, report, email, { relayedTo: relayed.get(email), hostname }) ?? [])
}

/** Whoever has the email may write to its bounce address: more notifications than this are no news. */
const maxUnrecognized = 50

/** Feedback reports that are no complaint say nothing of a delivery. */
async function unrecognizedReports(
  mail: ReportMessage,
  report: Report | null,
  { db }: ReportDeps,
): Promise<readonly DeliveryReport[]> {
  if (report && report.feedbackType !== null) return []
  const reports: DeliveryReport[] = []
  for (const email of await findEmailsByAddress(db, mail, report)) {
    const recorded = await selectReportCount(db, email.emailId, email.recipient, maxUnrecognized)
    if (recorded < maxUnrecognized) reports.push(undeterminedReport(mail, report, email))
  }
  return reports
}

async function record(
  mail: ReportMessage,
  kind: Report['kind'],
  reports: readonly DeliveryReport[],
  { db, log }: ReportDeps,
): Promise<void> {
  const isNew = await inTransaction(db, tx => recordReports(tx, reports, mail.receivedAt))
  for (const [i, { event }] of reports.entries()) {
    if (kind !== 'none') reportsCounter.inc({ outcome: isNew[i] ? kind : 'repeated' })
    log.info(
      { email_id: event.emailId, ...messageLogKeys(mail), report: kind, type: event.type, is_new: isNew[i] === true },
      'recorded a delivery report',
    )
  }
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
