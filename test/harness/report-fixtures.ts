import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readReport } from '../../src/mail/reports/read-report.ts'
import type { Report, ReportedRecipient } from '../../src/mail/reports/report.ts'
import { noticeOf } from '../../src/receiving/reports/delivery-report.ts'
import { type BounceClass, classifyBounce } from '../../src/sending/reports/classify-bounce.ts'

const folder = join(import.meta.dir, '../fixtures/reports')

/** Who sent the email that the fixtures are about. */
const senderNames = ['hello@shop.example', 'shop.example', 'bounces.shop.example']
const hostname = 'out.mailroom.example'

/** The names of the fixtures that begin with `prefix`, without `.eml`. */
export function fixtureNames(prefix = ''): readonly string[] {
  return readdirSync(folder)
    .map(file => file.replace(/\.eml$/, ''))
    .filter(name => name.startsWith(prefix))
    .sort()
}

export function fixtureBytes(name: string): Buffer {
  return readFileSync(join(folder, `${name}.eml`))
}

export function readFixture(name: string): Report {
  return readReport(fixtureBytes(name))
}

/** What a fixture's bounce of one recipient means. */
export function classifyFixture(report: Report, reported: ReportedRecipient): BounceClass {
  const email = { reported, recipient: reported.finalRecipient, senderNames }
  return classifyBounce({ ...reported, text: reported.diagnostic, notice: noticeOf(report, email, hostname) })
}

/** How each fixture is read, as a table in Markdown. */
export function reportTable(): string {
  const rows = fixtureNames().flatMap(name => {
    const report = readFixture(name)
    if (report.recipients.length === 0)
      return [[name, report.kind, 'by the bounce address', ...meaningOfWhole(name, report)]]
    return report.recipients.map(recipient => [
      name,
      report.kind,
      recipient.finalRecipient || 'by the bounce address',
      ...meaningOf(report, recipient),
    ])
  })
  const head = [
    ['File', 'Recognised as', 'Recipient', 'Permanent', 'Suppressed'],
    ['---', '---', '---', '---', '---'],
  ]
  return [...head, ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** What a fixture means that names no recipient, at a bounce address. */
function meaningOfWhole(name: string, { kind }: Report): readonly [permanent: string, suppressed: string] {
  if (kind === 'complaint') return ['-', 'yes']
  const isNotification = fixtureBytes(name).toString('latin1').startsWith('Return-Path: <>')
  return [kind === 'none' && isNotification ? 'undetermined, status as before' : '-', 'no']
}

function meaningOf(report: Report, recipient: ReportedRecipient): readonly [permanent: string, suppressed: string] {
  if (report.kind === 'complaint') return ['-', 'yes']
  if (recipient.action !== 'failed') return [recipient.action, 'no']
  const { type, scope, suppress } = classifyFixture(report, recipient)
  const suppressed = { 'at once': 'yes', 'when repeated': 'when repeated', never: 'no' }[suppress]
  return [`${type}, ${scope}`, suppressed]
}
