import type { Log } from '../base/observability/log.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { type NoteSpan, traced } from '../base/observability/tracing.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import { decide, type Policy } from './decide.ts'
import type { Incoming } from './incoming.ts'
import type { Fileable } from './message-row.ts'
import type { Parse } from './parse.ts'
import { asRefusal, refuseMail } from './refusal.ts'
import type { TakeReport } from './reports/reports.ts'
import { type Scanning, scanMessage } from './scan.ts'
import { store } from './store.ts'
import { type Verifying, verify } from './verify.ts'

/** What the way in works with. */
export interface Receiving extends Scanning, Verifying {
  readonly parse: Parse
  readonly policy: Policy
  readonly blobs: Blobs
  readonly file: (what: Fileable) => Promise<{ readonly id: string }>
  readonly takeReport: TakeReport
  readonly log: Log
}

const received = counter('mailroom_received_total', 'Messages after DATA, by what became of them.', ['outcome'])
for (const outcome of ['inbox', 'spam', 'quarantine', 'report']) received.inc({ outcome }, 0)

/**
 * The way in: what happens to a message between its final dot and our answer. Resolves once it is filed for good.
 * @throws SmtpRefusal: what the sender must change (5yz), or our trouble (4yz).
 */
export function receive(mail: Incoming, use: Receiving): Promise<{ readonly id: string }> {
  const facts = { 'mailroom.transaction_id': mail.id, 'mailroom.recipients': mail.recipients.length }
  return traced({ name: 'receive message', kind: 'server', facts }, note => answer(mail, use, note))
}

async function answer(mail: Incoming, use: Receiving, note: NoteSpan): Promise<{ readonly id: string }> {
  try {
    const taken = await takeIn(mail, use)
    note({ 'mailroom.message_id': taken.id })
    return taken
  } catch (error) {
    const refusal = asRefusal(error)
    note({ 'mailroom.refusal': refusal.code })
    received.inc({ outcome: refusal.code })
    if (refusal !== error) use.log.error({ err: error, transaction_id: mail.id }, 'could not receive a message')
    throw refusal
  }
}

async function takeIn(mail: Incoming, use: Receiving): Promise<{ readonly id: string }> {
  const recipients = mail.recipients.filter(each => !each.bounceOf)
  return recipients.length === 0 ? takeReport(mail, use) : fileAndTake(mail, { ...mail, recipients }, use)
}

/** What comes to bounce addresses alone is read and not kept. The address says what it is about, so nobody is authenticated. */
async function takeReport(mail: Incoming, use: Receiving): Promise<{ readonly id: string }> {
  const { report, isAutomaticReply } = await timed('in', 'parse', () => use.parse(mail.content))
  if (mail.signal.aborted) throw refuseMail('answer_late')
  await timed('in', 'report', () => use.takeReport(mail, report, isAutomaticReply))
  received.inc({ outcome: 'report' })
  return { id: mail.id }
}

/** Files `filed`, which is `mail` for its mailboxes, and takes what it reports, unless it is doubtful who sent it. */
async function fileAndTake(mail: Incoming, filed: Incoming, use: Receiving): Promise<{ readonly id: string }> {
  const [{ verdicts, isResolverAway }, { outline, scan }] = await Promise.all([
    timed('in', 'verify', () => verify(filed, use)),
    parseAndScan(filed, use),
  ])
  const decision = decide({ verdicts, isResolverAway, scan, outline }, use.policy)
  if (decision.kind === 'refuse') throw refuseMail(decision.code)
  const bytes = await timed('in', 'store', () => store(filed, use.blobs))
  const what = { mail: filed, verdicts, scan, outline, filing: decision, bytes }
  const { id } = await timed('in', 'file', () => use.file(what))
  const isToAddress = filed.recipients.length < mail.recipients.length
  if (isToAddress || (decision.folder === 'inbox' && outline.report))
    await timed('in', 'report', () => use.takeReport(mail, outline.report, outline.isAutomaticReply))
  received.inc({ outcome: decision.folder })
  return { id }
}

/** The parser knows at once what the scanner would take seconds to give up on. */
async function parseAndScan({ content, signal }: Incoming, use: Receiving) {
  const outline = await timed('in', 'parse', () => use.parse(content))
  const scan = outline.isBeyondScanning
    ? beyondScanning
    : await timed('in', 'scan', () => scanMessage(content, signal, use))
  return { outline, scan }
}

const beyondScanning = { kind: 'unscanned', why: 'it has too many parts', isLasting: true } as const
