import type { PlannedEvent } from './delivery-plan.ts'

/** How different systems format a delivery status notification. */
export const dialects = ['postfix', 'exim', 'bare'] as const
export type Dialect = (typeof dialects)[number]

/** The recipient that a report is about, and its destination. */
export interface ReportFacts {
  readonly address: string
  /** The address in its To field. */
  readonly to: string
  /** Header fields of the reported message, each with CRLF. */
  readonly header: string
  /** The local part of its Message-ID. */
  readonly name: string
  readonly dialect: Dialect
}

const boundary = '=_report'

/** A multipart/report (RFC 6522) of these parts, each beginning with its header. */
function multipart(type: string, { to, name }: ReportFacts, from: string, parts: readonly string[]): string {
  const head = [
    'Date: Tue, 03 Mar 2026 09:15:04 +0000',
    `From: ${from}`,
    `To: ${to}`,
    'Subject: About your message',
    `Message-ID: <${name}@provider.test>`,
    'MIME-Version: 1.0',
    'Auto-Submitted: auto-replied',
    `Content-Type: multipart/report; report-type=${type};`,
    `\tboundary="${boundary}"`,
  ]
  return `${[...head, '', ...parts.flatMap(part => [`--${boundary}`, part]), `--${boundary}--`].join('\r\n')}\r\n`
}

const actions = { delivered: 'delivered', relayed: 'relayed', delayed: 'delayed', failed: 'failed' } as const

/** A delivery status notification, RFC 3464. */
export function writeDsn(event: PlannedEvent, about: ReportFacts): string {
  if (event.kind === 'complained') throw new Error('a complaint is not a delivery status')
  const { address, header, dialect } = about
  const [, code = '', enhanced = `${code.charAt(0)}.0.0`, text = ''] =
    /^(\d{3}) (?:(\d\.\d+\.\d+) )?(.*)$/.exec(event.reply) ?? []
  const quoted = event.reply.startsWith(`${code} ${enhanced}`) ? `${code} ${enhanced} ${text}` : `${code} ${text}`
  const action = actions[event.kind]
  const fields = {
    postfix: [
      'Reporting-MTA: dns; mx.provider.test',
      '',
      `Final-Recipient: rfc822; ${address}`,
      `Original-Recipient: rfc822;${address}`,
      `Action: ${action}`,
      `Status: ${enhanced}`,
      'Remote-MTA: dns; mx.dest.example',
      `Diagnostic-Code: smtp; ${quoted}`,
    ],
    exim: [
      'Reporting-MTA: dns; exim.provider.test',
      '',
      `Action: ${action}`,
      `Final-Recipient: rfc822;${address}`,
      `Status: ${enhanced}`,
      `Diagnostic-Code: smtp; ${quoted.replace(/ (\S+)$/, '\r\n $1')}`,
    ],
    bare: [
      `Final-Recipient: RFC822; <${address}>`,
      `Action: ${action.toUpperCase()}`,
      `Status: ${enhanced} (as heard)`,
      `Diagnostic-Code: SMTP; ${quoted}`,
    ],
  }[dialect]
  const returned = `Content-Type: text/rfc822-headers\r\n\r\n${header}`
  const parts = [
    'Content-Type: text/plain\r\n\r\nThis is the mail system. See below.\r\n',
    `Content-Type: message/delivery-status\r\n\r\n${fields.join('\r\n')}\r\n`,
    ...(dialect === 'bare' ? [] : [returned]),
  ]
  return multipart('delivery-status', about, 'Mail Delivery System <MAILER-DAEMON@provider.test>', parts)
}

/** A feedback report (RFC 5965), in one dialect with a redacted recipient. */
export function writeFeedback(type: 'abuse' | 'not-spam', about: ReportFacts): string {
  const { address, header, dialect } = about
  const recipient = dialect === 'bare' ? 'redacted@dest.example' : address
  const fields = [`Feedback-Type: ${type}`, 'User-Agent: Loop/1.0', 'Version: 1', `Original-Rcpt-To: <${recipient}>`]
  return multipart('feedback-report', about, 'Feedback loop <fbl@provider.test>', [
    'Content-Type: text/plain\r\n\r\nThis is an email abuse report.\r\n',
    `Content-Type: message/feedback-report\r\n\r\n${fields.join('\r\n')}\r\n`,
    `Content-Type: message/rfc822\r\n\r\n${header}\r\nHello\r\n`,
  ])
}

/** An automatic reply (RFC 3834). */
export function writeAutoReply({ address, to, name }: ReportFacts): string {
  const head = [
    `From: ${address}`,
    `To: ${to}`,
    'Subject: Out of office',
    `Message-ID: <${name}@dest.example>`,
    'Auto-Submitted: auto-replied',
  ]
  return `${[...head, '', 'I am away. 550 5.1.1 User unknown is what I hope you do not think.'].join('\r\n')}\r\n`
}
