import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReport } from '../../../src/mail/reports/read-report.ts'
import type { ReportedRecipient } from '../../../src/mail/reports/report.ts'
import { classifyBounce } from '../../../src/sending/reports/classify-bounce.ts'

const folder = join(import.meta.dir, '../../fixtures/reports')
const emailId = 'eml_01kq5x9m3t8v0w2y4z6a8c1d3f'

/** Each format with its kind and, for each recipient, its fields; for a bounce also the classification. */
const formats: readonly (readonly [name: string, kind: string, ...recipients: string[]])[] = [
  ['1und1', 'bounce', 'bob@dest.example 550 5.7.1 permanent infrastructure, suppressed never'],
  ['amazon-ses', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['aol', 'bounce', 'bob@aol.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['arf-abuse', 'complaint', 'bob@dest.example'],
  ['arf-fraud', 'complaint', 'bob@dest.example'],
  ['arf-opt-out', 'complaint', 'bob@dest.example'],
  ['arf-redacted', 'complaint'],
  ['arf-yahoo', 'complaint', 'bob@yahoo.example'],
  ['barracuda', 'bounce', 'bob@dest.example 554 5.7.1 permanent infrastructure, suppressed never'],
  ['communigate', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['courier', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['delivered', 'delivered', 'bob@dest.example delivered 2.1.5'],
  ['domino', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['dovecot', 'bounce', 'bob@dest.example - 5.2.2 transient recipient, suppressed never'],
  ['exchange-2003', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['exchange-2007', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['exchange-5.5', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['exchange-quota', 'bounce', 'bob@dest.example 554 5.2.2 transient recipient, suppressed never'],
  ['exim-delayed', 'delayed', 'bob@dest.example delayed 4.7.1'],
  ['exim-plain', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['exim-unrouteable', 'bounce', 'bob@nowhere.example - - permanent recipient, suppressed at once'],
  ['exim', 'bounce', 'bob@dest.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['ezmlm', 'bounce', 'talk@lists.example - 5.7.2 permanent infrastructure, suppressed never'],
  ['freenet', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['gmail-before-dsn', 'bounce', 'bob@dest.example 550 5.2.1 permanent recipient, suppressed when repeated'],
  ['gmail-delayed', 'delayed', 'bob@dest.example delayed 4.4.1'],
  ['gmail', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['gmx', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['google-groups', 'bounce', 'team@dest.example - - undetermined recipient, suppressed never'],
  ['groupwise', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['icloud', 'bounce', 'bob@icloud.example 552 5.2.2 transient recipient, suppressed never'],
  ['imail', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['interscan', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['lotus-notes', 'bounce', 'bob@dest.example - - permanent recipient, suppressed at once'],
  ['mail-ru', 'bounce', 'bob@mail.example 550 - permanent recipient, suppressed at once'],
  ['mailenable', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['mailmarshal', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['mdaemon', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['messagelabs', 'bounce', 'bob@dest.example 550 5.1.0 undetermined recipient, suppressed never'],
  ['microsoft-365-banned', 'bounce', 'bob@dest.example 550 5.7.606 permanent infrastructure, suppressed never'],
  ['microsoft-365-delayed', 'delayed', 'bob@dest.example delayed 4.4.7'],
  ['microsoft-365-edge', 'bounce', 'bob@dest.example 550 5.4.1 permanent recipient, suppressed when repeated'],
  ['microsoft-365-expired', 'bounce', 'bob@dest.example 550 5.4.300 transient infrastructure, suppressed never'],
  ['microsoft-365', 'bounce', 'bob@dest.example 550 5.1.10 permanent recipient, suppressed at once'],
  ['mimecast', 'bounce', 'bob@dest.example - 5.1.1 permanent recipient, suppressed at once'],
  ['netease', 'bounce', 'bob@163.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['no-returned-message', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['opensmtpd-plain', 'bounce', 'bob@dest.example 550 5.2.1 permanent recipient, suppressed when repeated'],
  ['opensmtpd', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['oracle-messaging', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['outlook-com-complaint', 'complaint', 'bob@outlook.example'],
  ['postfix-before-dsn', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['postfix-delayed', 'delayed', 'bob@dest.example delayed 4.2.0'],
  ['postfix-expired', 'bounce', 'bob@dest.example - 4.4.1 transient infrastructure, suppressed never'],
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
  ['postfix', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['powermta', 'bounce', 'bob@dest.example 550 5.0.0 permanent recipient, suppressed at once'],
  ['proofpoint', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['qmail-no-host', 'bounce', 'bob@nowhere.example - 5.1.2 permanent recipient, suppressed at once'],
  ['qmail-too-long', 'bounce', 'bob@dest.example - 4.4.1 transient infrastructure, suppressed never'],
  ['qmail', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['qq', 'bounce', 'bob@qq.example 550 - permanent recipient, suppressed at once'],
  ['sendmail-5', 'bounce', 'bob@nowhere.example 550 - permanent recipient, suppressed at once'],
  ['sendmail-8.6', 'bounce', 'bob@dest.example 550 - permanent recipient, suppressed at once'],
  ['sendmail-guessed-status', 'bounce', 'bob@dest.example 550 5.7.1 permanent infrastructure, suppressed never'],
  ['sendmail-warning', 'delayed', 'bob@dest.example delayed 4.4.1'],
  ['sendmail', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['t-online', 'bounce', 'bob@t-online.example - - permanent recipient, suppressed at once'],
  ['web-de', 'bounce', 'bob@dest.example 552 - transient recipient, suppressed never'],
  [
    'wrapped-oddly',
    'bounce',
    'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once',
    'ann@dest.example - 5.2.2 transient recipient, suppressed never',
  ],
  ['yahoo-disabled', 'bounce', 'bob@dest.example 554 - permanent recipient, suppressed when repeated'],
  ['yahoo', 'bounce', 'bob@dest.example 554 - permanent recipient, suppressed at once'],
  ['yandex', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
  ['zoho', 'bounce', 'bob@dest.example 550 5.1.1 permanent recipient, suppressed at once'],
]

/** Formats that return nothing that identifies the email. */
const withoutOriginal = new Set(['exim-delayed', 'mimecast', 'no-returned-message', 'wrapped-oddly'])

function read(name: string) {
  return readReport(readFileSync(join(folder, `${name}.eml`)))
}

function describeRecipient(kind: string, reportedRecipient: ReportedRecipient): string {
  if (kind === 'complaint') return reportedRecipient.finalRecipient
  if (reportedRecipient.action !== 'failed')
    return `${reportedRecipient.finalRecipient} ${reportedRecipient.action} ${reportedRecipient.enhancedCode}`
  const { type, scope, suppress } = classifyBounce({ ...reportedRecipient, text: reportedRecipient.diagnostic })
  return `${reportedRecipient.finalRecipient} ${reportedRecipient.smtpCode ?? '-'} ${reportedRecipient.enhancedCode ?? '-'} ${type} ${scope}, suppressed ${suppress}`
}

describe('reads the report of', () => {
  for (const [name, kind, ...recipients] of formats)
    test(name, () => {
      const report = read(name)
      expect([report.kind, ...report.recipients.map(recipient => describeRecipient(report.kind, recipient))]).toEqual([
        kind,
        ...recipients,
      ])
      expect(report.original.messageId).toBe(withoutOriginal.has(name) ? null : `${emailId}@shop.example`)
    })
})

describe('does not take for a report', () => {
  for (const name of namesOf('none-'))
    test(name, () => expect(read(name)).toMatchObject({ kind: 'none', recipients: [] }))
})

describe('recognises the auto-reply', () => {
  for (const name of namesOf('auto-'))
    test(name, () => expect(read(name)).toMatchObject({ kind: 'auto-reply', recipients: [] }))
})

function namesOf(prefix: string): readonly string[] {
  return readdirSync(folder)
    .map(file => file.replace(/\.eml$/, ''))
    .filter(name => name.startsWith(prefix))
    .sort()
}

test('has an expectation for each fixture', () => {
  const others = namesOf('').filter(name => !/^(?:none|auto)-/.test(name))
  expect(others).toEqual(formats.map(([name]) => name).sort())
  expect(others.length).toBeGreaterThanOrEqual(45)
})

test('reads the envelope id, the servers and the original recipient', () => {
  const { envelopeId, reportingMta, recipients } = read('postfix-relayed')
  expect({ envelopeId, reportingMta }).toEqual({ envelopeId: emailId, reportingMta: 'mx.relay.example' })
  expect(recipients[0]).toMatchObject({ remoteMta: 'mx.dest.example', diagnostic: '250 2.0.0 Ok: queued as 5F2A' })
  expect(read('postfix-smtputf8').recipients[0]?.originalRecipient).toBe('jürgen@dest.example')
  expect(read('wrapped-oddly')).toMatchObject({ envelopeId: 'QQ314159', reportingMta: 'odd.example' })
})

test('reads reports that were cut off anywhere, without throwing', () => {
  for (const name of ['postfix', 'gmail', 'qq', 'arf-abuse', 'qmail']) {
    const bytes = readFileSync(join(folder, `${name}.eml`))
    for (let end = 0; end < bytes.length; end += 37) expect(() => readReport(bytes.subarray(0, end))).not.toThrow()
  }
})

test('reads a hostile report within 200 ms', () => {
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
    const started = performance.now()
    const { recipients } = readReport(Buffer.from(report))
    for (const one of recipients) classifyBounce({ ...one, text: one.diagnostic })
    slow.push(...(performance.now() - started < 200 ? [] : [i]))
  }
  expect(slow).toEqual([])
})
