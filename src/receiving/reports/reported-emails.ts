import type { Db } from '../../base/database/database.ts'
import { type Id, isId } from '../../base/ids.ts'
import type { Report, ReportedAction, ReportedRecipient } from '../../mail/reports/report.ts'
import type { Incoming, Recipient } from '../incoming.ts'
import { findSentTo } from './table.ts'

/** Of a mail what counts for its report. */
export interface ReportMail extends Pick<Incoming, 'id' | 'mailFrom' | 'receivedAt' | 'signal'> {
  readonly recipients: readonly Pick<Recipient, 'organizationId' | 'mailboxId' | 'bounceOf'>[]
}

/** An email and one recipient of it, of whom a report tells. */
export interface Subject {
  readonly emailId: Id<'eml'>
  /** The recipient, as the email has it. */
  readonly recipient: string
  /** What the report says of them; null: it is a complaint, and says no more. */
  readonly said: ReportedRecipient | null
  /** Could another recipient of the email have written it? Then nobody is suppressed for it. */
  readonly isDoubtful: boolean
}

/**
 * Of which emails of ours a report tells, and of whom, each once: by the bounce addresses that it came to, and by the email
 * that it names, in a mailbox of the organization that sent it.
 */
export async function findSubjects(db: Db, mail: ReportMail, report: Report): Promise<readonly Subject[]> {
  const subjects = [...(await byAddress(db, mail, report)), ...(await byMessage(db, mail, report))]
  return [...new Map(subjects.map(each => [`${each.emailId} ${each.recipient}`, each])).values()]
}

async function byAddress(db: Db, mail: ReportMail, report: Report): Promise<readonly Subject[]> {
  const subjects: Subject[] = []
  for (const { bounceOf, organizationId } of mail.recipients) {
    if (!bounceOf) continue
    const { emailId, position } = bounceOf
    const sentTo = await findSentTo(db, [organizationId], emailId)
    const recipient = sentTo.find(each => each.position === position)?.email
    if (recipient === undefined) continue
    subjects.push({ emailId, recipient, said: saidOf(recipient, report) ?? worstOf(report), isDoubtful: false })
  }
  return subjects
}

async function byMessage(db: Db, mail: ReportMail, report: Report): Promise<readonly Subject[]> {
  const emailId = namedEmail(report)
  if (emailId === undefined || mail.recipients.some(each => each.bounceOf?.emailId === emailId)) return []
  const organizationIds = [
    ...new Set(mail.recipients.flatMap(each => (each.mailboxId === null ? [] : each.organizationId))),
  ]
  const sentTo = await findSentTo(db, organizationIds, emailId)
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
