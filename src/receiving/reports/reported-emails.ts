import type { Db } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import type { Report, ReportedAction, ReportedRecipient } from '../../mail/reports/report.ts'
import type { InboundRecipient, IncomingMessage } from '../incoming-message.ts'
import { selectSentRecipients } from './table.ts'

/** Of a mail what counts for its report. */
export interface ReportMessage extends Pick<IncomingMessage, 'id' | 'mailFrom' | 'receivedAt' | 'signal'> {
  readonly recipients: readonly Pick<InboundRecipient, 'organizationId' | 'mailboxId' | 'bounceOf'>[]
}

/** An email and one recipient of it, of whom a report tells. */
export interface ReportedEmail {
  readonly emailId: Id<'eml'>
  /** The recipient, as the email has it. */
  readonly recipient: string
  /** What the report says of them; null: it is a complaint, and says no more. */
  readonly reported: ReportedRecipient | null
  /** Could another recipient of the email have written it? Then nobody is suppressed for it. */
  readonly isDoubtful: boolean
}

/**
 * Of which emails of ours a report tells, and of whom, each once: by the bounce addresses that it came to, and by the email
 * that it names, in a mailbox of the organization that sent it.
 */
export async function findReportedEmails(
  db: Db,
  mail: ReportMessage,
  report: Report,
): Promise<readonly ReportedEmail[]> {
  const subjects = [...(await byAddress(db, mail, report)), ...(await byMessage(db, mail, report))]
  return [...new Map(subjects.map(subject => [`${subject.emailId} ${subject.recipient}`, subject])).values()]
}

async function byAddress(db: Db, mail: ReportMessage, report: Report): Promise<readonly ReportedEmail[]> {
  const subjects: ReportedEmail[] = []
  for (const { bounceOf, organizationId } of mail.recipients) {
    if (!bounceOf) continue
    const { emailId, position } = bounceOf
    const sentTo = await selectSentRecipients(db, [organizationId], emailId)
    const recipient = sentTo.find(each => each.position === position)?.email
    if (recipient === undefined) continue
    subjects.push({
      emailId,
      recipient,
      reported: reportedFor(recipient, report) ?? worstReported(report),
      isDoubtful: false,
    })
  }
  return subjects
}

async function byMessage(db: Db, mail: ReportMessage, report: Report): Promise<readonly ReportedEmail[]> {
  const emailId = emailIdIn(report)
  if (emailId === undefined || mail.recipients.some(recipient => recipient.bounceOf?.emailId === emailId)) return []
  const organizationIds = [
    ...new Set(mail.recipients.flatMap(recipient => (recipient.mailboxId === null ? [] : recipient.organizationId))),
  ]
  const sentTo = await selectSentRecipients(db, organizationIds, emailId)
  const [only] = sentTo
  if (sentTo.length === 1 && only) {
    const { email } = only
    return [
      { emailId, recipient: email, reported: reportedFor(email, report) ?? worstReported(report), isDoubtful: false },
    ]
  }
  return sentTo.flatMap(({ email }) => {
    const said = reportedFor(email, report)
    return said && report.kind !== 'complaint' ? { emailId, recipient: email, reported: said, isDoubtful: true } : []
  })
}

/**
 * The email that a report names by its id, which holds 80 random bits and is in no place that strangers see: in the returned
 * header, as the envelope id that we gave, or in the Message-ID.
 */
function emailIdIn({ original, envelopeId }: Report): Id<'eml'> | undefined {
  const candidates = [original.mailroomId, envelopeId, `eml_${original.messageId?.split('@')[0]}`]
  return candidates.find(candidate => candidate !== null && isId('eml', candidate))
}

function reportedFor(address: string, { recipients }: Report): ReportedRecipient | null {
  const isSame = (other: string | null) => other?.toLowerCase() === address.toLowerCase()
  return recipients.find(recipient => isSame(recipient.originalRecipient) || isSame(recipient.finalRecipient)) ?? null
}

const worstFirst: readonly ReportedAction[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded']

/** Of several servers that an address was passed on to, the one that says the worst. */
function worstReported({ recipients }: Report): ReportedRecipient | null {
  return recipients.toSorted((a, b) => worstFirst.indexOf(a.action) - worstFirst.indexOf(b.action))[0] ?? null
}
