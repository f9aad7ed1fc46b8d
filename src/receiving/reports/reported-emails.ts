import type { Db } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import { type Id, isId } from '../../base/ids.ts'
import type { Report, ReportedAction, ReportedRecipient } from '../../mail/reports/report.ts'
import type { InboundRecipient, IncomingMessage } from '../incoming-message.ts'
import { domainOf } from './relayed-dsn.ts'
import { type SentRecipientRow, selectSentRecipients } from './table.ts'

/** What counts of a message for its report. */
export interface ReportMessage extends Pick<IncomingMessage, 'id' | 'mailFrom' | 'receivedAt' | 'signal'> {
  readonly recipients: readonly Pick<InboundRecipient, 'address' | 'organizationId' | 'mailboxId' | 'bounceOf'>[]
}

/** An email that a report is about, and one of its recipients. */
export interface ReportedEmail {
  readonly emailId: Id<'eml'>
  /** The recipient, as the email has it. */
  readonly recipient: string
  /** The recipient's fields in the report; null: it is a complaint, which has none. */
  readonly reported: ReportedRecipient | null
  /** Its status before this report. */
  readonly status: EmailStatus
  /** The sender's addresses and domains, lower case, none of them the recipient's own. */
  readonly senderNames: readonly string[]
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
  const emails = [...(await findEmailsByAddress(db, mail, report)), ...(await byMessage(db, mail, report))]
  return [...new Map(emails.map(email => [`${email.emailId} ${email.recipient}`, email])).values()]
}

/** The emails and recipients of the bounce addresses that a message came to, whatever it says; null: it is no report. */
export async function findEmailsByAddress(
  db: Db,
  mail: ReportMessage,
  report: Report | null,
): Promise<readonly ReportedEmail[]> {
  const emails: ReportedEmail[] = []
  for (const { bounceOf, organizationId, address } of mail.recipients) {
    if (!bounceOf) continue
    const { emailId, position } = bounceOf
    const sentTo = await selectSentRecipients(db, [organizationId], emailId)
    const row = sentTo.find(sent => sent.position === position)
    if (!row) continue
    const reported = report && (reportedFor(row.email, report) ?? worstReported(report))
    emails.push({ ...toReportedEmail(emailId, row, reported, [address]), isDoubtful: false })
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
    const reported = reportedFor(only.email, report) ?? worstReported(report)
    return [{ ...toReportedEmail(emailId, only, reported, []), isDoubtful: false }]
  }
  return sentTo.flatMap(row => {
    const reported = reportedFor(row.email, report)
    if (!reported || report.kind === 'complaint') return []
    return { ...toReportedEmail(emailId, row, reported, []), isDoubtful: true }
  })
}

function toReportedEmail(
  emailId: Id<'eml'>,
  { email, status, fromAddress }: SentRecipientRow,
  reported: ReportedRecipient | null,
  returnPaths: readonly string[],
): Omit<ReportedEmail, 'isDoubtful'> {
  const addresses = [fromAddress, ...returnPaths].map(address => address.toLowerCase())
  const names = [...addresses, ...addresses.map(domainOf)]
  return { emailId, recipient: email, status, reported, senderNames: namesOtherThan(email, names) }
}

/** Without the recipient's address, and without its domain, the domains above it and those below. */
export function namesOtherThan(recipient: string, names: readonly string[]): readonly string[] {
  const own = domainOf(recipient.toLowerCase())
  const isOwn = (name: string) => name === own || name.endsWith(`.${own}`) || own.endsWith(`.${name}`)
  const others = names.filter(name => (name.includes('@') ? name !== recipient.toLowerCase() : !isOwn(name)))
  return [...new Set(others)]
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
