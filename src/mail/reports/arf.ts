import type { HeaderField } from '../header.ts'
import type { Report } from './report.ts'
import { fieldOf, type ReportMessage } from './report-mime.ts'
import { readOriginalMessage } from './returned-message.ts'

type Feedback = Pick<Report, 'kind' | 'recipients' | 'feedbackType' | 'reportingMta' | 'envelopeId'>

/** Feedback types that mean that the recipient wants no more such mail (RFC 5965 §7.3, RFC 6430); others do not mean that. */
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
 * Reads a feedback report (RFC 5965), or a complaint of Outlook.com, which has no machine-readable part; null: it is neither.
 * Only recipients that the report names are given: most reporters redact them.
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
    recipients: complaints.has(type) ? [...new Set(recipients)].map(complainant) : [],
    reportingMta: values('Reporting-MTA')[0]?.replace(/^.*?;\s*/, '') ?? values('User-Agent')[0] ?? null,
    envelopeId: values('Original-Envelope-Id')[0] ?? null,
  }
}

/** Whether its From is that of Outlook.com's complaints. */
export function isFromOutlook(fields: readonly HeaderField[]): boolean {
  return /\b(?:staff|postmaster)@(?:hotmail|outlook|live)\.com\b/i.test(fieldOf(fields, 'from') ?? '')
}

function fromOutlook(message: ReportMessage): Feedback | null {
  const original = readOriginalMessage(message)
  if (original.complainant === null || !isFromOutlook(message.fields)) return null
  return {
    kind: 'complaint',
    feedbackType: 'abuse',
    recipients: [complainant(original.complainant)],
    reportingMta: 'Outlook.com',
    envelopeId: null,
  }
}

function complainant(address: string): Report['recipients'][number] {
  return {
    finalRecipient: address,
    originalRecipient: null,
    action: 'delivered',
    enhancedCode: null,
    smtpCode: null,
    diagnostic: null,
    notice: '',
    remoteMta: null,
    lastAttemptAt: null,
  }
}
