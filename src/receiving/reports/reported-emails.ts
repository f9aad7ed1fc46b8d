import type { Db } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import type { Report, ReportedAction, ReportedRecipient } from '../../mail/reports/report.ts'
import type { InboundRecipient, IncomingMessage } from '../incoming-message.ts'
import { selectSentRecipients } from './table.ts'

/** What counts of a message for its report. */
export interface ReportMessage extends Pick<IncomingMessage, 'id' | 'mailFrom' | 'receivedAt' | 'signal'> {
  readonly recipients: readonly Pick<InboundRecipient, 'organizationId' | 'mailboxId' | 'bounceOf'>[]
}

/** An email that a report is about, and one of its recipients. */
export interface ReportedEmail {
  readonly emailId: Id<'eml'>
  /** The recipient, as the email has it. */
  readonly recipient: string
  /** The recipient's fields in the report; null: it is a complaint, which has none. */
  readonly reported: ReportedRecipient | null
  /** Could another recipient of the email have written it? Then nobody is suppressed for it. */
  readonly isDoubtful: boolean
}

/**
 * The emails and recipients that a report is about, each once: by the bounce addresses it came to, and by the email that it
 * names, in a mailbox of the organization that sent that email.
 */
export async function findReportedEmails(
  db: Db,
  mail: ReportMessage,
  report: Report,
): Promise<readonly ReportedEmail[]> {
  const emails = [...(await byAddress(db, mail, report)), ...(await byMessage(db, mail, report))]
  return [...new Map(emails.map(email => [`${email.emailId} ${email.recipient}`, email])).values()]
}

async function byAddress(db: Db, mail: ReportMessage, report: Report): Promise<readonly ReportedEmail[]> {
  const emails: ReportedEmail[] = []
  for (const { bounceOf, organizationId } of mail.recipients) {
    if (!bounceOf) continue
    const { emailId, position } = bounceOf
    const sentTo = await selectSentRecipients(db, [organizationId], emailId)
    const recipient = sentTo.find(row => row.position === position)?.email
    if (recipient === undefined) continue
    emails.push({
      emailId,
      recipient,
      reported: reportedFor(recipient, report) ?? worstReported(report),
      isDoubtful: false,
    })
  }
  return emails
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
    const reported = reportedFor(email, report)
    return reported && report.kind !== 'complaint' ? { emailId, recipient: email, reported, isDoubtful: true } : []
  })
}

/**
 * The email that a report names by its id, which has 80 random bits and is shown to no stranger: in the returned header, as
 * the envelope id that we gave, or in the Message-ID.
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

/** The worst of several results, for an address that was passed on to several servers. */
function worstReported({ recipients }: Report): ReportedRecipient | null {
  return recipients.toSorted((a, b) => worstFirst.indexOf(a.action) - worstFirst.indexOf(b.action))[0] ?? null
}
