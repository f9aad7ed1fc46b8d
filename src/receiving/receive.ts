import type { Log } from '../base/observability/log.ts'
import { counter, timed } from '../base/observability/metrics.ts'
import { traced } from '../base/observability/tracing.ts'
import type { BlobStore } from '../ports/blobs/port.ts'
import { decideForEach, type InboundPolicy } from './decide.ts'
import type { MessageFiler } from './file.ts'
import { type FilterDeps, filterSpam } from './filter-spam.ts'
import type { IncomingMessage } from './incoming-message.ts'
import { findListings } from './listings.ts'
import { decisionFor } from './message-row.ts'
import type { UnparsedMessage } from './parse.ts'
import { type ParsePool, parse } from './parse-pool/parse-pool.ts'
import { type ReportDeps, recordReport } from './reports/record-report.ts'
import { type ScanDeps, scanMessage } from './scan.ts'
import { refuseMail, toSmtpRefusal } from './smtp-refusal.ts'
import { store } from './store.ts'
import { type VerifyDeps, verify } from './verify.ts'

export interface ReceiveDeps extends ReportDeps, ScanDeps, FilterDeps, VerifyDeps {
  /** Is there enough free disk space for new mail? */
  readonly hasDiskSpace: () => boolean
  /** For large messages; absent: all are parsed on this thread. */
  readonly parsePool?: ParsePool
  readonly policy: InboundPolicy
  readonly blobs: BlobStore
  readonly filer: MessageFiler
}

/**
 * The inbound pipeline: what happens to a message between its final dot and our reply. Resolves once it is stored durably,
 * with the id for the reply.
 * @throws SmtpRefusal: what the sender must change (5yz), or what may succeed later (4yz).
 */
export async function receive(mail: IncomingMessage, deps: ReceiveDeps): Promise<{ readonly id: string }> {
  if (!deps.hasDiskSpace()) throw refuseMail('disk_full')
  return await withOutcome(mail, deps.log, async () => {
    const recipients = mail.recipients.filter(recipient => !recipient.bounceOf)
    const [first] = recipients
    if (!first) return await receiveReport(mail, deps)
    const message = { ...mail, recipients }
    const [{ verdicts, isResolverUnavailable }, { summary, scan, listings }, spam] = await Promise.all([
      timed('in', 'verify', () => verify(message, deps)),
      parseAndScan(message, deps),
      filterSpam(message, deps),
    ])
    const facts = { mailFrom: mail.mailFrom, verdicts, isResolverUnavailable, scan, summary, spam }
    const decided = decideForEach(facts, listings, deps.policy)
    if (decided.kind === 'refuse') throw refuseMail(decided.code)
    const bytes = await timed('in', 'store', () => store(message, summary.sha256, deps.blobs))
    const filing = { mail: message, verdicts, scan, summary, spam, decisions: decided.byOrganization, bytes }
    const { id } = await timed('in', 'file', () => deps.filer.file(filing))
    // A report in a mailbox counts only if its sender is not in doubt.
    const { folder } = decisionFor(filing, first)
    const isForBounceAddress = recipients.length < mail.recipients.length
    if (isForBounceAddress || (folder === 'inbox' && summary.report))
      await timed('in', 'report', () => recordReport(mail, summary, deps))
    return { id, outcome: folder }
  })
}

/** Mail to bounce addresses alone is read and not stored. The address identifies the email, so the sender is not verified. */
async function receiveReport(mail: IncomingMessage, deps: ReceiveDeps) {
  const summary = await timed('in', 'parse', () => parse(toUnparsed(mail), deps.parsePool))
  if (mail.signal.aborted) throw refuseMail('answer_late')
  await timed('in', 'report', () => recordReport(mail, summary, deps))
  return { id: mail.id, outcome: 'report' }
}

/** Parses first: it finds at once the messages that the scanner would give up on after seconds, and who is in From. */
async function parseAndScan(mail: IncomingMessage, deps: ReceiveDeps) {
  const { content, signal } = mail
  const summary = await timed('in', 'parse', () => parse(toUnparsed(mail), deps.parsePool))
  const [scan, listings] = await Promise.all([
    summary.isBeyondScanning ? beyondScanning : timed('in', 'scan', () => scanMessage(content, summary, signal, deps)),
    findListings(deps.db, mail, summary),
  ])
  return { summary, scan, listings }
}

function toUnparsed({ content, mailFrom }: IncomingMessage): UnparsedMessage {
  return { content, envelope: { hasNullReversePath: mailFrom === '' } }
}

const beyondScanning = { kind: 'unscanned', why: 'it has too many parts', isPermanent: true } as const

const received = counter('mailroom_received_total', 'Messages after DATA, by outcome.', ['outcome'])
for (const outcome of ['inbox', 'spam', 'quarantine', 'report']) received.inc({ outcome }, 0)

/** Traces and counts what `run` comes to. What it throws becomes a refusal, and is logged where it was not one. */
async function withOutcome(
  mail: IncomingMessage,
  log: Log,
  run: () => Promise<{ readonly id: string; readonly outcome: string }>,
): Promise<{ readonly id: string }> {
  const attributes = { 'mailroom.transaction_id': mail.id, 'mailroom.recipients': mail.recipients.length }
  return await traced({ name: 'receive message', kind: 'server', attributes }, async setAttributes => {
    try {
      const { id, outcome } = await run()
      setAttributes({ 'mailroom.message_id': id })
      received.inc({ outcome })
      return { id }
    } catch (error) {
      const refusal = toSmtpRefusal(error)
      setAttributes({ 'mailroom.refusal': refusal.code })
      received.inc({ outcome: refusal.code })
      if (refusal !== error)
        log.error({ err: error, transaction_id: mail.id }, 'could not receive a message; the sender was asked to retry')
      throw refusal
    }
  })
}
