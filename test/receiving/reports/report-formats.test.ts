import { describe, expect, test } from 'bun:test'
import { readReport } from '../../../src/mail/reports/read-report.ts'
import type { Report, ReportedRecipient } from '../../../src/mail/reports/report.ts'
import { classifyBounce } from '../../../src/sending/reports/classify-bounce.ts'
import { classifyFixture, fixtureBytes, fixtureNames, readFixture, reportTable } from '../../harness/report-fixtures.ts'

const emailId = 'eml_01kq5x9m3t8v0w2y4z6a8c1d3f'

/** Each format with its kind and, for each recipient, its fields; for a bounce also the classification. */
const formats: readonly (readonly [name: string, kind: string, ...recipients: string[]])[] = [
  ['1und1', 'bounce', 'bob@dest.example 550 5.7.1 permanent infrastructure, suppressed never'],
  ['aliyun-user-not-exist', 'bounce', 'bob@aliyun.example 553 - permanent recipient, suppressed at once'],
  ['amazon-ses', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['aol', 'bounce', 'bob@aol.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['arf-abuse', 'complaint', 'bob@dest.example'],
  ['arf-fraud', 'complaint', 'bob@dest.example'],
  ['arf-opt-out', 'complaint', 'bob@dest.example'],
  ['arf-redacted', 'complaint'],
  ['arf-yahoo', 'complaint', 'bob@yahoo.example'],
  ['barracuda', 'bounce', 'bob@dest.example 554 5.7.1 permanent infrastructure, suppressed never'],
  ['barracuda-user-unknown', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['communigate', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['communigate-delayed', 'delayed', 'bob@dest.example delayed null'],
  ['communigate-not-active', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['courier', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['delivered', 'delivered', 'bob@dest.example delivered 2.1.5'],
  ['domino', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['domino-japanese', 'bounce', 'bob@dest.example - 5.0.0 permanent recipient, suppressed at once'],
  ['domino-japanese-katakana', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['dovecot', 'bounce', 'bob@dest.example - 5.2.2 transient recipient, suppressed never'],
  ['exchange-2003', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['exchange-2007', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['exchange-5.5', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['exchange-authentication', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['exchange-quota', 'bounce', 'bob@dest.example 554 5.2.2 transient recipient, suppressed never'],
  ['exchange-x400', 'bounce', 'robert@dest.example - - permanent recipient, suppressed at once'],
  ['exim', 'bounce', 'bob@dest.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['exim-deactivated-mailbox', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['exim-delayed', 'delayed', 'bob@dest.example delayed 4.7.1'],
  ['exim-label-recipient', 'bounce', 'tom@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['exim-mail-from', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['exim-plain', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['exim-sender-callout', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['exim-unrouteable', 'bounce', 'bob@nowhere.example - - permanent recipient, suppressed at once'],
  ['exim-without-from', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['ezmlm', 'bounce', 'talk@lists.example - 5.7.2 permanent infrastructure, suppressed never'],
  ['freenet', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['gateway-code-last', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['gmail', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['gmail-before-dsn', 'bounce', 'bob@dest.example 550 5.2.1 permanent recipient, suppressed when repeated'],
  ['gmail-delayed', 'delayed', 'bob@dest.example delayed 4.4.1'],
  ['gmail-receives-no-email', 'bounce', 'bob@dest.example - 4.0.0 undetermined recipient, suppressed when repeated'],
  ['gmx', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['google-groups', 'bounce', 'team@dest.example - - undetermined recipient, suppressed never'],
  ['groupwise', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['icloud', 'bounce', 'bob@icloud.example 552 5.2.2 transient recipient, suppressed never'],
  ['imail', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['imail-label-recipient', 'bounce', 'contact@dest.example 550 - permanent recipient, suppressed at once'],
  ['interscan', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['ironport-delayed', 'delayed', 'bob@dest.example delayed null'],
  ['ironport-policy', 'bounce', 'bob@dest.example - 5.1.1 permanent infrastructure, suppressed never'],
  ['lotus-notes', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['mail-ru', 'bounce', 'bob@mail.example 550 - permanent recipient, suppressed at once'],
  ['mailenable', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['mailmarshal', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['mdaemon', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['mdaemon-warning', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['messagelabs', 'bounce', 'bob@dest.example 550 5.1.0 undetermined recipient, suppressed never'],
  ['microsoft-365', 'bounce', 'bob@dest.example 550 5.1.10 permanent recipient, suppressed at once'],
  ['microsoft-365-banned', 'bounce', 'bob@dest.example 550 5.7.606 permanent infrastructure, suppressed never'],
  ['microsoft-365-delayed', 'delayed', 'bob@dest.example delayed 4.4.7'],
  ['microsoft-365-edge', 'bounce', 'bob@dest.example 550 5.4.1 permanent recipient, suppressed when repeated'],
  ['microsoft-365-expired', 'bounce', 'bob@dest.example 550 5.4.300 transient infrastructure, suppressed never'],
  ['microsoft-365-headers', 'bounce', 'bob@dest.example 550 5.1.10 permanent recipient, suppressed at once'],
  ['mimecast', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['mimecast-label-recipient', 'bounce', 'toni@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['mimecast-spoofing', 'bounce', 'bob@dest.example - 5.1.1 permanent infrastructure, suppressed never'],
  ['netease', 'bounce', 'bob@163.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['netease-unknown-or-full', 'bounce', 'bob@163.example 550 - undetermined recipient, suppressed never'],
  ['no-returned-message', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['noreply-gateway', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['notes-japanese-html', 'bounce', 'bob@dest.example - - transient recipient, suppressed never'],
  ['notes-japanese-undeclared', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['opensmtpd', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['opensmtpd-plain', 'bounce', 'bob@dest.example 550 5.2.1 permanent recipient, suppressed when repeated'],
  ['oracle-messaging', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['outlook-com-complaint', 'complaint', 'bob@outlook.example'],
  ['postfix', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['postfix-antispam-host', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['postfix-before-dsn', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['postfix-delayed', 'delayed', 'bob@dest.example delayed 4.2.0'],
  ['postfix-delayed-user-unknown', 'delayed', 'bob@dest.example delayed 4.1.1'],
  ['postfix-dmarc-user-unknown', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['postfix-expired', 'bounce', 'bob@dest.example - 4.4.1 transient infrastructure, suppressed never'],
  ['postfix-logged-transaction', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['postfix-names-sender', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['postfix-no-domain', 'bounce', 'bob@nowhere.example - 5.4.4 permanent recipient, suppressed at once'],
  ['postfix-quota', 'bounce', 'bob@dest.example 552 5.2.2 transient recipient, suppressed never'],
  ['postfix-relayed', 'relayed', 'bob@dest.example relayed 2.0.0'],
  ['postfix-smtputf8', 'bounce', 'jürgen@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  [
    'postfix-two-recipients',
    'bounce',
    'ann@dest.example 550 5.1.1 permanent recipient, suppressed at once',
    'bob@dest.example 554 5.7.1 permanent infrastructure, suppressed never',
  ],
  ['postfix-words-in-host', 'bounce', 'bob@unknown-user.example - 5.0.0 transient infrastructure, suppressed never'],
  ['powermta', 'bounce', 'bob@dest.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['powermta-no-mail-box', 'bounce', 'bob@dest.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['powermta-policy-related', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['proofpoint', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  [
    'proofpoint-label-recipient',
    'bounce',
    'address-book@dest.example 550 5.1.1 permanent recipient, suppressed at once',
  ],
  ['qmail', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['qmail-label-recipient', 'bounce', 'user1@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['qmail-no-host', 'bounce', 'bob@nowhere.example - 5.1.2 permanent recipient, suppressed at once'],
  ['qmail-too-long', 'bounce', 'bob@dest.example - 4.4.1 transient infrastructure, suppressed never'],
  ['qmail-words-in-address', 'bounce', 'no-such-user@dest.example - - transient infrastructure, suppressed never'],
  ['qq', 'bounce', 'bob@qq.example 550 - permanent recipient, suppressed at once'],
  ['sendmail', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['sendmail-5', 'bounce', 'bob@nowhere.example 550 - permanent recipient, suppressed at once'],
  ['sendmail-8.6', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['sendmail-guessed-status', 'bounce', 'bob@dest.example 550 5.7.1 permanent infrastructure, suppressed never'],
  ['sendmail-recipient-spam', 'bounce', 'spam-policy@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['sendmail-relay-attack', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['sendmail-relay-authentication', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['sendmail-relay-header', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['sendmail-relay-host', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['sendmail-relay-mailbox-full', 'bounce', 'bob@dest.example 550 5.1.1 transient recipient, suppressed never'],
  ['sendmail-relay-not-our-user', 'bounce', 'bob@dest.example 551 5.1.6 permanent recipient, suppressed at once'],
  ['sendmail-relay-policy', 'bounce', 'bob@dest.example 501 5.1.3 permanent infrastructure, suppressed never'],
  ['sendmail-relay-refused', 'bounce', 'bob@dest.example 550 5.1.1 undetermined recipient, suppressed never'],
  ['sendmail-relay-sender-domain', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['sendmail-relay-spf', 'bounce', 'bob@dest.example 550 5.1.1 permanent infrastructure, suppressed never'],
  ['sendmail-too-many-errors', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  [
    'sendmail-two-reasons',
    'bounce',
    'ann@dest.example 550 5.1.1 permanent infrastructure, suppressed never',
    'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once',
  ],
  ['sendmail-warning', 'delayed', 'bob@dest.example delayed 4.4.1'],
  ['smartermail-label-recipient', 'bounce', 'recipient1@dest.example 550 - permanent recipient, suppressed at once'],
  ['t-online', 'bounce', 'bob@t-online.example - - permanent recipient, suppressed at once'],
  ['tencent-label-recipient', 'bounce', 'tobias@qq.example 550 - permanent recipient, suppressed at once'],
  ['verizon-other-boundary', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['web-de', 'bounce', 'bob@dest.example 552 - transient recipient, suppressed never'],
  [
    'wrapped-oddly',
    'bounce',
    'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once',
    'ann@dest.example - 5.2.2 transient recipient, suppressed never',
  ],
  ['yahoo', 'bounce', 'bob@dest.example 554 - permanent recipient, suppressed at once'],
  ['yahoo-disabled', 'bounce', 'bob@dest.example 554 - permanent recipient, suppressed when repeated'],
  ['yandex', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['zimbra-delayed', 'delayed', 'bob@dest.example delayed null'],
  ['zimbra-lmtp', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['zimbra-unworded', 'bounce', 'bob@dest.example - - undetermined recipient, suppressed never'],
  ['zoho', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
]

/** Formats that return nothing that identifies the email. */
const withoutOriginal = new Set([
  'exim-delayed',
  'mimecast',
  'no-returned-message',
  'wrapped-oddly',
  'mimecast-label-recipient',
  'mimecast-spoofing',
  'zimbra-delayed',
])

function describeRecipient(report: Report, recipient: ReportedRecipient): string {
  const { finalRecipient, action, smtpCode, enhancedCode } = recipient
  if (report.kind === 'complaint') return finalRecipient
  if (action !== 'failed') return `${finalRecipient} ${action} ${enhancedCode}`
  const { type, scope, suppress } = classifyFixture(report, recipient)
  return `${finalRecipient} ${smtpCode ?? '-'} ${enhancedCode ?? '-'} ${type} ${scope}, suppressed ${suppress}`
}

describe('reads the report of', () => {
  for (const [name, kind, ...recipients] of formats)
    test(name, () => {
      const report = readFixture(name)
      expect([report.kind, ...report.recipients.map(recipient => describeRecipient(report, recipient))]).toEqual([
        kind,
        ...recipients,
      ])
      expect(report.original.messageId).toBe(withoutOriginal.has(name) ? null : `${emailId}@shop.example`)
    })
})

describe('does not take for a report', () => {
  for (const name of fixtureNames('none-'))
    test(name, () => expect(readFixture(name)).toMatchObject({ kind: 'none', recipients: [] }))
})

test('takes none of these and of the auto-replies for a bounce because it came with the null reverse-path', () => {
  const names = [...fixtureNames('none-'), ...fixtureNames('auto-')]
  const kinds = names.map(name => [name, readReport(fixtureBytes(name), { hasNullReversePath: true }).kind])
  expect(kinds.filter(([, kind]) => kind !== 'none' && kind !== 'auto-reply')).toEqual([])
})

describe('recognises the auto-reply', () => {
  for (const name of fixtureNames('auto-'))
    test(name, () => expect(readFixture(name)).toMatchObject({ kind: 'auto-reply', recipients: [] }))
})

test('has an expectation for each fixture', () => {
  const others = fixtureNames().filter(name => !/^(?:none|auto)-/.test(name))
  expect(others).toEqual(formats.map(([name]) => name).sort())
  expect(others.length).toBeGreaterThanOrEqual(131)
})

test('has a row for each fixture in the table of how they are read', () => {
  const files = new Set(
    reportTable()
      .split('\n')
      .slice(2)
      .map(row => row.split(' | ')[0]?.slice(2)),
  )
  expect([...files]).toEqual([...fixtureNames()])
})

test('reads the envelope id, the servers and the original recipient', () => {
  const { envelopeId, reportingMta, recipients } = readFixture('postfix-relayed')
  expect({ envelopeId, reportingMta }).toEqual({ envelopeId: emailId, reportingMta: 'mx.relay.example' })
  expect(recipients[0]).toMatchObject({ remoteMta: 'mx.dest.example', diagnostic: '250 2.0.0 Ok: queued as 5F2A' })
  expect(readFixture('postfix-smtputf8').recipients[0]?.originalRecipient).toBe('jürgen@dest.example')
  expect(readFixture('wrapped-oddly')).toMatchObject({ envelopeId: 'QQ314159', reportingMta: 'odd.example' })
})

test('reads reports that were cut off anywhere, without throwing', () => {
  for (const name of ['postfix', 'gmail', 'qq', 'arf-abuse', 'qmail']) {
    const bytes = fixtureBytes(name)
    for (let end = 0; end < bytes.length; end += 37) expect(() => readReport(bytes.subarray(0, end))).not.toThrow()
  }
})

test('reads a hostile report within 200 ms of CPU time', () => {
  const head = 'From: mailer-daemon@x.test\r\nSubject: failure notice\r\nContent-Type: '
  const many = (line: string) => line.repeat(Math.ceil((300 * 1024) / line.length))
  const hostile = [
    `${head}text/plain\r\n\r\n${many('a@')}`,
    `${head}text/plain\r\n\r\n${many('<a@b.test ')}`,
    `${head}text/plain\r\n\r\n${many('5.1.1 550 ')}`,
    `${head}text/plain\r\n\r\nHi. This is the\r\n${many('recipient address to for <')}`,
    `${head}text/plain\r\n\r\nHi. This is the\r\n${many(' ')}x`,
    `${head}text/plain\r\n\r\nHi. This is the\r\n${many('user ')}`,
    `${head}text/html\r\n\r\n${many('<style><a ')}`,
    `${head}multipart/report; boundary=b\r\n\r\n${many('--b\r\n\r\n')}`,
    `${head}multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${many('Action: failed\r\n')}`,
    `${head}multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${many('Final-Recipient: a\r\n x\r\n\r\n')}`,
    many('To: x\r\n '),
  ]
  const slow: number[] = []
  for (const [i, report] of hostile.entries()) {
    // CPU time: other processes may take the machine meanwhile.
    const started = process.cpuUsage()
    const { recipients } = readReport(Buffer.from(report))
    for (const one of recipients)
      classifyBounce({ ...one, text: one.diagnostic, notice: { text: one.notice, senderNames: ['shop.example'] } })
    const { user } = process.cpuUsage(started)
    slow.push(...(user < 200_000 ? [] : [i]))
  }
  expect(slow).toEqual([])
})
