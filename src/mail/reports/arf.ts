import type { HeaderField } from '../header.ts'
import type { Report } from './report.ts'
import { fieldOf, type ReportMessage } from './report-mime.ts'
import { readOriginalMessage } from './returned-message.ts'

type Feedback = Pick<Report, 'kind' | 'recipients' | 'feedbackType' | 'reportingMta' | 'envelopeId'>

/** What a recipient said by these (RFC 5965 §7.3, RFC 6430): send me no more. `not-spam` and `auth-failure` say no such thing. */
const complaints = new Set([
  'abuse',
  'fraud',
  'virus',
  'miscategorized',
  'complaint',
  'opt-out',
  'opt-out-list',
  'other',
])

/**
 * What a feedback report says (RFC 5965), or one of Outlook.com's, which have no part for it; null: it is neither. A
 * recipient is one that the report names: operators redact them.
 */
export function readFeedback(message: ReportMessage): Feedback | null {
  const part = message.parts.find(part => part.type === 'message/feedback-report')
  return part ? fromPart(part.text) : fromOutlook(message)
}

function fromPart(text: string): Feedback {
  const values = (name: string) =>
    Array.from(
      text.replace(/\n[ \t]+/g, ' ').matchAll(new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, 'gim')),
      regExpExecArray => (regExpExecArray[1] ?? '').trim(),
    )
  const type = (values('Feedback-Type')[0] ?? '').toLowerCase()
  const recipients = [...values('Original-Rcpt-To'), ...values('Removal-Recipient')]
    .map(value => /[^\s<>;,"()]+@[^\s<>;,"()]+/.exec(value)?.[0] ?? '')
    .filter(value => value !== '' && !/^(?:redacted|x+|\*+)@|@(?:redacted|x+)$/i.test(value))
  return {
    kind: complaints.has(type) ? 'complaint' : 'none',
    feedbackType: type || null,
    recipients: complaints.has(type) ? [...new Set(recipients)].map(complainer) : [],
    reportingMta: values('Reporting-MTA')[0]?.replace(/^.*?;\s*/, '') ?? values('User-Agent')[0] ?? null,
    envelopeId: values('Original-Envelope-Id')[0] ?? null,
  }
}

/** Does it come from where Outlook.com's complaints come from, as far as its From says? */
export function isFromOutlook(fields: readonly HeaderField[]): boolean {
  return /\b(?:staff|postmaster)@(?:hotmail|outlook|live)\.com\b/i.test(fieldOf(fields, 'from') ?? '')
}

function fromOutlook(message: ReportMessage): Feedback | null {
  const original = readOriginalMessage(message)
  if (original.complainant === null || !isFromOutlook(message.fields)) return null
  return {
    kind: 'complaint',
    feedbackType: 'abuse',
    recipients: [complainer(original.complainant)],
    reportingMta: 'Outlook.com',
    envelopeId: null,
  }
}

function complainer(address: string): Report['recipients'][number] {
  return {
    finalRecipient: address,
    originalRecipient: null,
    action: 'delivered',
    enhancedCode: null,
    smtpCode: null,
    diagnostic: null,
    remoteMta: null,
    lastAttemptAt: null,
  }
}
