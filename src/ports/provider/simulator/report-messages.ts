import { newSortableToken } from '../../../base/ids.ts'
import { formatDate } from '../../../mail/date.ts'
import type { Submission } from '../port.ts'

/** A message that comes in because of one that was sent. */
export interface ReportMail {
  /** Its recipient: the reverse-path of the message that it is about. */
  readonly rcptTo: string
  /** The whole message, with CRLF line ends. Its own reverse-path is null (RFC 5321 §4.5.5). */
  readonly message: Buffer
}

const host = 'mx.simulator.test'

/** What a delivery status notification says of one recipient. */
export interface SimulatedStatus {
  readonly action: 'failed' | 'delayed' | 'delivered'
  /** RFC 3463. */
  readonly status: string
  /** The reply of the recipient's server. */
  readonly reply: string
}

/** A delivery status notification, with the header of the message that it is about. RFC 3464, RFC 3461 §6. */
export function dsnMessage(
  { emailId, mailFrom, message }: Submission,
  recipient: string,
  status: SimulatedStatus,
): ReportMail {
  return report(mailFrom, 'Delivery Status Notification', 'delivery-status', [
    part('text/plain; charset=us-ascii', [`Delivery to ${recipient}: ${status.action}.`, status.reply]),
    part('message/delivery-status', [
      `Reporting-MTA: dns; ${host}`,
      `Original-Envelope-Id: ${emailId}`,
      '',
      `Original-Recipient: rfc822;${recipient}`,
      `Final-Recipient: rfc822;${recipient}`,
      `Action: ${status.action}`,
      `Status: ${status.status}`,
      `Remote-MTA: dns; ${host}`,
      `Diagnostic-Code: smtp; ${status.reply}`,
    ]),
    part('text/rfc822-headers', [headerOf(message)]),
  ])
}

/** A complaint, as a mailbox provider's feedback loop sends it. RFC 5965. */
export function complaintMessage({ mailFrom, message }: Submission, recipient: string): ReportMail {
  return report(mailFrom, 'Abuse report', 'feedback-report', [
    part('text/plain; charset=us-ascii', ['This is a complaint about a message that was received from you.']),
    part('message/feedback-report', [
      'Feedback-Type: abuse',
      'User-Agent: Simulator/1',
      'Version: 1',
      `Original-Mail-From: <${mailFrom}>`,
      `Original-Rcpt-To: <${recipient}>`,
    ]),
    part('text/rfc822-headers', [headerOf(message)]),
  ])
}

/** An out-of-office reply. RFC 3834. */
export function autoReplyMessage({ mailFrom, message }: Submission, recipient: string): ReportMail {
  const messageId = /^message-id:\s*(<[^<>\s]+>)/im.exec(headerOf(message))?.[1]
  const threading = messageId ? [`In-Reply-To: ${messageId}`, `References: ${messageId}`] : []
  const lines = [
    ...header(recipient, mailFrom, 'Out of office'),
    'Auto-Submitted: auto-replied',
    ...threading,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'I am out of the office.',
    '',
  ]
  return { rcptTo: mailFrom, message: Buffer.from(lines.join('\r\n')) }
}

function header(from: string, to: string, subject: string): readonly string[] {
  return [
    `Date: ${formatDate(Date.now())}`,
    `From: <${from}>`,
    `To: <${to}>`,
    `Subject: ${subject}`,
    `Message-ID: <${newSortableToken()}@${host}>`,
    'MIME-Version: 1.0',
  ]
}

function report(mailFrom: string, subject: string, type: string, parts: readonly (readonly string[])[]): ReportMail {
  const boundary = newSortableToken()
  const lines = [
    ...header(`mailer-daemon@${host}`, mailFrom, subject),
    'Auto-Submitted: auto-replied',
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    '',
    ...parts.flatMap(part => [`--${boundary}`, ...part, '']),
    `--${boundary}--`,
    '',
  ]
  return { rcptTo: mailFrom, message: Buffer.from(lines.join('\r\n'), 'latin1') }
}

function part(contentType: string, lines: readonly string[]): readonly string[] {
  return [`Content-Type: ${contentType}`, '', ...lines]
}

/** The header of a message, with its last CRLF. */
function headerOf(message: Buffer): string {
  const end = message.indexOf('\r\n\r\n')
  return message.subarray(0, end < 0 ? message.length : end + 2).toString('latin1')
}
