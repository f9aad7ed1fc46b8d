import type { Log } from '../base/observability/log.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { type SetSpanAttributes, traced } from '../base/observability/tracing.ts'
import type { BlobStore } from '../ports/blobs/port.ts'
import { decide, type InboundPolicy } from './decide.ts'
import type { IncomingMessage } from './incoming-message.ts'
import type { FileableMessage } from './message-row.ts'
import type { Parse } from './parse.ts'
import type { TakeReport } from './reports/record-report.ts'
import { type ScanDeps, scanMessage } from './scan.ts'
import { refuseMail, toSmtpRefusal } from './smtp-refusal.ts'
import { store } from './store.ts'
import { type VerifyDeps, verify } from './verify.ts'

/** What the way in works with. */
export interface ReceiveDeps extends ScanDeps, VerifyDeps {
  readonly parse: Parse
  readonly policy: InboundPolicy
  readonly blobs: BlobStore
  readonly file: (what: FileableMessage) => Promise<{ readonly id: string }>
  readonly takeReport: TakeReport
  readonly log: Log
}

const received = counter('mailroom_received_total', 'Messages after DATA, by what became of them.', ['outcome'])
for (const outcome of ['inbox', 'spam', 'quarantine', 'report']) received.inc({ outcome }, 0)

/**
 * The way in: what happens to a message between its final dot and our answer. Resolves once it is filed for good.
 * @throws SmtpRefusal: what the sender must change (5yz), or our trouble (4yz).
 */
export function receive(mail: IncomingMessage, deps: ReceiveDeps): Promise<{ readonly id: string }> {
  const facts = { 'mailroom.transaction_id': mail.id, 'mailroom.recipients': mail.recipients.length }
  return traced({ name: 'receive message', kind: 'server', attributes: facts }, note => answer(mail, deps, note))
}

async function answer(
  mail: IncomingMessage,
  deps: ReceiveDeps,
  note: SetSpanAttributes,
): Promise<{ readonly id: string }> {
  try {
    const taken = await takeIn(mail, deps)
    note({ 'mailroom.message_id': taken.id })
    return taken
  } catch (error) {
    const refusal = toSmtpRefusal(error)
    note({ 'mailroom.refusal': refusal.code })
    received.inc({ outcome: refusal.code })
    if (refusal !== error) deps.log.error({ err: error, transaction_id: mail.id }, 'could not receive a message')
    throw refusal
  }
}

async function takeIn(mail: IncomingMessage, deps: ReceiveDeps): Promise<{ readonly id: string }> {
  const recipients = mail.recipients.filter(recipient => !recipient.bounceOf)
  return recipients.length === 0 ? takeReport(mail, deps) : fileAndTake(mail, { ...mail, recipients }, deps)
}

/** What comes to bounce addresses alone is read and not kept. The address says what it is about, so nobody is authenticated. */
async function takeReport(mail: IncomingMessage, deps: ReceiveDeps): Promise<{ readonly id: string }> {
  const { report, isAutomaticReply } = await timed('in', 'parse', () => deps.parse(mail.content))
  if (mail.signal.aborted) throw refuseMail('answer_late')
  await timed('in', 'report', () => deps.takeReport(mail, report, isAutomaticReply))
  received.inc({ outcome: 'report' })
  return { id: mail.id }
}

/** Files `filed`, which is `mail` for its mailboxes, and takes what it reports, unless it is doubtful who sent it. */
async function fileAndTake(
  mail: IncomingMessage,
  filed: IncomingMessage,
  deps: ReceiveDeps,
): Promise<{ readonly id: string }> {
  const [{ verdicts, isResolverUnavailable }, { outline, scan }] = await Promise.all([
    timed('in', 'verify', () => verify(filed, deps)),
    parseAndScan(filed, deps),
  ])
  const decision = decide({ verdicts, isResolverUnavailable, scan, summary: outline }, deps.policy)
  if (decision.kind === 'refuse') throw refuseMail(decision.code)
  const bytes = await timed('in', 'store', () => store(filed, deps.blobs))
  const what = { mail: filed, verdicts, scan, summary: outline, decision, bytes }
  const { id } = await timed('in', 'file', () => deps.file(what))
  const isToAddress = filed.recipients.length < mail.recipients.length
  if (isToAddress || (decision.folder === 'inbox' && outline.report))
    await timed('in', 'report', () => deps.takeReport(mail, outline.report, outline.isAutomaticReply))
  received.inc({ outcome: decision.folder })
  return { id }
}

/** The parser knows at once what the scanner would take seconds to give up on. */
async function parseAndScan({ content, signal }: IncomingMessage, deps: ReceiveDeps) {
  const outline = await timed('in', 'parse', () => deps.parse(content))
  const scan = outline.isBeyondScanning
    ? beyondScanning
    : await timed('in', 'scan', () => scanMessage(content, signal, deps))
  return { outline, scan }
}

const beyondScanning = { kind: 'unscanned', why: 'it has too many parts', isLasting: true } as const
