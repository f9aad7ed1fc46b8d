import type { IncomingMessage } from '../../receiving/incoming-message.ts'
import {
  refuseMail,
  SmtpRefusal,
  type SmtpRefusalCode,
  type SmtpReply,
  toSmtpRefusal,
} from '../../receiving/smtp-refusal.ts'
import type { DataReceiver } from './command-parser.ts'
import type { MailService, SmtpRecipient, SmtpSessionDeps } from './deps.ts'
import type { MailTransaction } from './envelope.ts'
import { messageReplies, observeData } from './metrics.ts'
import type { Spool } from './spool.ts'

/** The session, as far as a transfer needs it. */
export interface TransferSession<Recipient extends SmtpRecipient> {
  readonly id: string
  readonly service: MailService<Recipient>
  readonly client: Pick<IncomingMessage, 'remoteIp' | 'helo' | 'tls'>
  /** Sends the final reply to DATA. */
  replyToData(reply: SmtpReply): void
  /** Sends the reply for the reason and closes the session. */
  cut(code: SmtpRefusalCode): void
}

/** One message, from the reply 354 to the final reply. */
export class Transfer<Recipient extends SmtpRecipient> implements DataReceiver {
  private phase: 'transfer' | 'reply' | 'over' = 'transfer'
  private phaseSince = performance.now()
  private windowSince = this.phaseSince
  private windowBytes = 0
  private resume: () => void = () => undefined
  private readonly stop = new AbortController()
  private readonly spool: Spool
  private readonly session: TransferSession<Recipient>
  private readonly transaction: MailTransaction<Recipient>
  private readonly deps: SmtpSessionDeps<Recipient>

  constructor(
    session: TransferSession<Recipient>,
    transaction: MailTransaction<Recipient>,
    deps: SmtpSessionDeps<Recipient>,
  ) {
    this.session = session
    this.transaction = transaction
    this.deps = deps
    this.spool = deps.spoolFolder.open(transaction.id, deps.limits.maxMessageBytes)
  }

  /** Is the final dot still to come? */
  get isArriving(): boolean {
    return this.phase === 'transfer'
  }

  write(bytes: Buffer): void {
    this.windowBytes += bytes.length
    this.spool.write(bytes)
  }

  backpressure(): Promise<void> | undefined {
    // A message past SIZE is refused after its end; one that does not end is cut.
    if (this.spool.size > 2 * this.deps.limits.maxMessageBytes) this.session.cut('message_too_large')
    return this.spool.backpressure()
  }

  end(resume: () => void): void {
    const now = performance.now()
    observeData(this.deps.kind, 'transfer', (now - this.phaseSince) / 1000)
    this.phase = 'reply'
    this.phaseSince = now
    this.resume = resume
    void this.settle()
  }

  /** Applies the timeouts: cuts a transfer below the minimum rate, and defers when our reply is late (RFC 1047). */
  check(now: number): void {
    const { answerMs, rateWindowMs, minBytesPerSecond } = this.deps.limits
    if (this.phase === 'reply' && now - this.phaseSince >= answerMs) {
      this.conclude(refuseMail('answer_late'))
      this.stop.abort()
    }
    if (this.phase !== 'transfer' || now - this.windowSince < rateWindowMs) return
    const isSlow = this.windowBytes * 1000 < minBytesPerSecond * (now - this.windowSince)
    this.windowSince = now
    this.windowBytes = 0
    // While we exert backpressure, the client is not slow.
    if (isSlow && !this.spool.backpressure()) this.session.cut('too_slow')
  }

  /** Ends without a reply to DATA: the client has gone, or the session was closed for this reason. */
  abandon(reason: SmtpRefusalCode | 'client_gone'): void {
    if (this.phase === 'over') return
    const wasTransfer = this.phase === 'transfer'
    this.phase = 'over'
    this.stop.abort()
    this.record(reason)
    // While the service has the message, settling discards it.
    if (wasTransfer) void this.discard()
  }

  private async settle(): Promise<void> {
    this.deps.addInFlight(1)
    try {
      this.conclude(await this.handOver())
    } catch (error) {
      this.conclude(toSmtpRefusal(error))
    } finally {
      await this.discard()
      this.deps.addInFlight(-1)
    }
  }

  private async handOver(): Promise<{ readonly id: string }> {
    if (this.spool.isTooLarge) throw refuseMail('message_too_large')
    const receivedAt = this.deps.clock.now()
    const content = await this.spool.finish()
    const { id, mailFrom, recipients, smtputf8 } = this.transaction
    return this.session.service.receive({
      id,
      mailFrom,
      recipients: [...recipients.values()],
      content,
      ...this.session.client,
      smtputf8,
      receivedAt,
      signal: this.stop.signal,
    })
  }

  private conclude(outcome: { readonly id: string } | SmtpRefusal): void {
    if (this.phase === 'over') {
      // The client got another reply, or none, and will send the message again.
      if (!(outcome instanceof SmtpRefusal))
        this.deps.log.warn(
          { transaction_id: this.transaction.id, ...this.idField(outcome) },
          'message filed after its reply was due: the client may send it again',
        )
      return
    }
    this.phase = 'over'
    const isRefused = outcome instanceof SmtpRefusal
    this.record(isRefused ? outcome.code : 'accepted', outcome)
    observeData(this.deps.kind, 'answer', (performance.now() - this.phaseSince) / 1000)
    this.session.replyToData(
      isRefused
        ? outcome.reply
        : { code: 250, enhanced: '2.0.0', text: `${this.session.service.acceptedAs} ${outcome.id}` },
    )
    this.resume()
  }

  private record(
    result: SmtpRefusalCode | 'accepted' | 'client_gone',
    outcome?: { readonly id: string } | SmtpRefusal,
  ): void {
    const { log, kind: listener } = this.deps
    messageReplies.inc({ listener, result })
    const fields = {
      session_id: this.session.id,
      transaction_id: this.transaction.id,
      remote_ip: this.session.client.remoteIp,
      helo: this.session.client.helo,
      tls: this.session.client.tls,
      bytes: this.spool.size,
      recipients: this.transaction.recipients.size,
      ms: Math.round(performance.now() - this.phaseSince),
    }
    if (!outcome) log.info({ ...fields, reason: result }, 'message abandoned')
    else if (!(outcome instanceof SmtpRefusal)) log.info({ ...fields, ...this.idField(outcome) }, 'message accepted')
    else if (outcome.code === 'our_trouble')
      log.error({ ...fields, reason: result, err: outcome.cause }, 'message refused')
    else log.info({ ...fields, reason: result, cause: causeOf(outcome) }, 'message refused')
  }

  /** What an MX takes is a message, what is submitted an email. */
  private idField({ id }: { readonly id: string }): Readonly<Record<string, string>> {
    return this.deps.kind === 'mx' ? { message_id: id } : { email_id: id }
  }

  private async discard(): Promise<void> {
    try {
      await this.spool.discard()
    } catch (error) {
      this.deps.log.error({ transaction_id: this.transaction.id, err: error }, 'spool file could not be removed')
    }
  }
}

function causeOf(refusal: SmtpRefusal): string | undefined {
  if (refusal.cause === undefined) return undefined
  return refusal.cause instanceof Error ? refusal.cause.message : String(refusal.cause)
}
