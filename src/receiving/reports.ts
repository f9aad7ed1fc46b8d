import { createHash } from 'node:crypto'
import { type Db, inTransaction } from '../base/database.ts'
import { type Id, isId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Report, ReportedAction, ReportedRecipient } from '../mail/reported.ts'
import type { DeliveryEvent } from '../sending/events.ts'
import { classifyBounce } from '../sending/reports/bounce.ts'
import { type DeliveryReport, recordReports } from '../sending/reports/reports.ts'
import { reports } from './bounce-address.ts'
import type { Incoming } from './incoming.ts'
import { refuseMail } from './refusal.ts'
import { findSentTo } from './reports-table.ts'

/**
 * Takes what a message reports of emails of ours. Resolves after the commit; the same again changes nothing.
 *
 * Anyone may write a report, so it counts only as far as it is tied to an email: by the bounce address that it came to, which
 * stands for one recipient, whatever the report says; or by naming an email, as only who had the message can, in a mailbox
 * of the organization that sent it, and then for the recipients that it names; where there are several, who all know the id,
 * it is no reason to suppress one. All else changes nothing.
 * @throws SmtpRefusal reports_only
 */
export type TakeReport = (mail: Incoming, report: Report | null, isAutomaticReply: boolean) => Promise<void>

interface Subject {
  readonly emailId: Id<'eml'>
  /** The recipient, as the email has it. */
  readonly recipient: string
  /** What the report says of them; null: it is a complaint, and says no more. */
  readonly said: ReportedRecipient | null
  /** Could another recipient of the email have written it? Then nobody is suppressed for it. */
  readonly isDoubtful: boolean
}

export function reportTaker(db: Db, log: Log): TakeReport {
  return async (mail, report, isAutomaticReply) => {
    const isToAddress = mail.recipients.some(each => each.bounceOf)
    const kind = report?.kind ?? (isAutomaticReply ? 'auto-reply' : 'none')
    if (!report || kind === 'none' || kind === 'auto-reply') {
      if (isToAddress) dismiss(mail, kind, log)
      return
    }
    const done = await inTransaction(db, async tx => {
      const subjects = [...(await byAddress(tx, mail, report)), ...(await byMessage(tx, mail, report))]
      const told = unique(subjects).flatMap(subject => deliveryReport(mail, report, subject) ?? [])
      const isNew = await recordReports(tx, told, mail.receivedAt)
      return told.map(({ event }, i) => ({ event, isNew: isNew[i] === true }))
    })
    for (const { event, isNew } of done) {
      reports.inc({ outcome: isNew ? kind : 'repeated' })
      log.info(
        { email_id: event.emailId, message_id: mail.id, report: kind, type: event.type, is_new: isNew },
        'took a report',
      )
    }
    if (done.length === 0) reports.inc({ outcome: 'unattributed' })
  }
}

/** What comes to a bounce address and reports nothing: a note of absence is let go, a person is told. */
function dismiss(mail: Incoming, kind: Report['kind'], log: Log): void {
  reports.inc({ outcome: kind === 'auto-reply' ? kind : 'unrecognized' })
  if (kind === 'auto-reply') return
  if (mail.mailFrom !== '') throw refuseMail('reports_only')
  const emailIds = mail.recipients.map(each => each.bounceOf?.emailId)
  log.warn({ message_id: mail.id, email_ids: emailIds }, 'let a report go that says nothing in a known form')
}

async function byAddress(tx: Db, mail: Incoming, report: Report): Promise<readonly Subject[]> {
  const subjects: Subject[] = []
  for (const { bounceOf, organizationId } of mail.recipients) {
    if (!bounceOf) continue
    const { emailId, position } = bounceOf
    const sentTo = await findSentTo(tx, [organizationId], emailId)
    const recipient = sentTo.find(each => each.position === position)?.email
    if (recipient === undefined) continue
    subjects.push({ emailId, recipient, said: saidOf(recipient, report) ?? worstOf(report), isDoubtful: false })
  }
  return subjects
}

async function byMessage(tx: Db, mail: Incoming, report: Report): Promise<readonly Subject[]> {
  const emailId = namedEmail(report)
  if (emailId === undefined || mail.recipients.some(each => each.bounceOf?.emailId === emailId)) return []
  const organizationIds = [
    ...new Set(mail.recipients.flatMap(each => (each.mailboxId === null ? [] : each.organizationId))),
  ]
  const sentTo = await findSentTo(tx, organizationIds, emailId)
  const [only] = sentTo
  if (sentTo.length === 1 && only) {
    const { email } = only
    return [{ emailId, recipient: email, said: saidOf(email, report) ?? worstOf(report), isDoubtful: false }]
  }
  return sentTo.flatMap(({ email }) => {
    const said = saidOf(email, report)
    return said && report.kind !== 'complaint' ? { emailId, recipient: email, said, isDoubtful: true } : []
  })
}

/**
 * The email that a report names by its id, which holds 80 random bits and is in no place that strangers see: in the returned
 * header, as the envelope id that we gave, or in the Message-ID.
 */
function namedEmail({ original, envelopeId }: Report): Id<'eml'> | undefined {
  const candidates = [original.mailroomId, envelopeId, `eml_${original.messageId?.split('@')[0]}`]
  return candidates.find(each => each !== null && isId('eml', each))
}

function saidOf(address: string, { recipients }: Report): ReportedRecipient | null {
  const isSame = (other: string | null) => other?.toLowerCase() === address.toLowerCase()
  return recipients.find(each => isSame(each.originalRecipient) || isSame(each.finalRecipient)) ?? null
}

const byWeight: readonly ReportedAction[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']

/** Of several servers that an address was passed on to, the one that says the worst. */
function worstOf({ recipients }: Report): ReportedRecipient | null {
  return recipients.toSorted((a, b) => byWeight.indexOf(a.action) - byWeight.indexOf(b.action))[0] ?? null
}

function unique(subjects: readonly Subject[]): readonly Subject[] {
  return [...new Map(subjects.map(each => [`${each.emailId} ${each.recipient}`, each])).values()]
}

function deliveryReport(mail: Incoming, report: Report, subject: Subject): DeliveryReport | null {
  const { emailId, recipient, said, isDoubtful } = subject
  const isComplaint = report.kind === 'complaint'
  if (!isComplaint && !said) return null
  const type = isComplaint ? 'complained' : typeOf(said?.action ?? 'failed')
  const { smtpCode = null, enhancedCode = null, diagnostic = null } = isComplaint ? {} : (said ?? {})
  const meant = classifyBounce({ smtpCode, enhancedCode, text: diagnostic })
  const detail = isComplaint ? `Complaint (${report.feedbackType ?? 'abuse'})` : diagnostic
  return {
    event: {
      emailId,
      recipient,
      type,
      occurredAt: mail.receivedAt,
      source: 'dsn',
      smtpCode,
      enhancedCode,
      detail,
      extra: evidenceOf(report, said),
      repeatKey: repeatKey(subject, type, report, { smtpCode, enhancedCode, detail }),
    },
    bounce: type === 'bounced' ? { ...meant, ...(isDoubtful && { suppress: 'never' }) } : null,
  }
}

/** To have been passed on to a server that reports nothing is no delivery. */
function typeOf(action: ReportedAction): 'bounced' | 'delayed' | 'delivered' | 'sent' {
  switch (action) {
    case 'failed':
      return 'bounced'
    case 'delayed':
    case 'delivered':
      return action
    case 'relayed':
    case 'expanded':
      return 'sent'
    default:
      return action satisfies never
  }
}

function evidenceOf(report: Report, said: ReportedRecipient | null): Readonly<Record<string, unknown>> {
  const told = {
    action: report.kind === 'complaint' ? null : said?.action,
    final_recipient: said?.finalRecipient,
    reporting_mta: report.reportingMta,
    remote_mta: said?.remoteMta,
    feedback_type: report.feedbackType,
  }
  return Object.fromEntries(
    Object.entries(told).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  )
}

/** What is told of a recipient is told once, by whatever copy of the report; each delay is news, where it is another one. */
function repeatKey(
  { emailId, recipient }: Subject,
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
