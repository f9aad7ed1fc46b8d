import type { Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'
import { newSortableToken } from '../../base/ids.ts'
import type { IncomingMessage } from '../../receiving/incoming-message.ts'
import {
  refuseMail,
  replyFor,
  type SmtpRefusal,
  type SmtpRefusalCode,
  type SmtpReply,
} from '../../receiving/smtp-refusal.ts'
import { CommandParser } from './command-parser.ts'
import type { ClientEndpoint } from './connections/proxy-header.ts'
import type { MailService, SmtpRecipient, SmtpSessionDeps } from './deps.ts'
import type { DrainableSession } from './drain-sessions.ts'
import { type MailTransaction, mailParameterError, parseRecipient } from './envelope.ts'
import { Lookup, type LookupReplies } from './lookup.ts'
import { recipientReplies, sessionsCut } from './metrics.ts'
import { type ParsedPath, parsePath } from './path.ts'
import { PipelinedReplies } from './pipelined-replies.ts'
import { RecipientErrors } from './recipient-errors.ts'
import { Login, type LoginSession } from './submission/login.ts'
import { Transfer, type TransferSession } from './transfer.ts'

type Done = () => void

const maxHeloLength = 255
const replies = {
  mail: { code: 250, enhanced: '2.1.0', text: 'Go on' },
  rcpt: { code: 250, enhanced: '2.1.5', text: 'Go on' },
  data: { code: 354, enhanced: '', text: 'End data with <CR><LF>.<CR><LF>' },
} as const satisfies Record<string, SmtpReply>

const enhancedStatusCode = /^[245]\.\d{1,3}\.\d{1,3}$/

/**
 * One SMTP session. smtp-server reads the lines, handles the simple commands and STARTTLS; the envelope, DATA and every
 * limit are ours. Its own timeouts, which only measure idle time, are off: {@link SmtpSession.check} applies ours.
 */
export class SmtpSession<Recipient extends SmtpRecipient>
  extends SMTPConnection
  implements TransferSession<Recipient>, DrainableSession, LoginSession
{
  readonly service: MailService<Recipient>
  private readonly deps: SmtpSessionDeps<Recipient>
  private readonly onClosed: () => void
  private readonly startedAt = performance.now()
  /** Since when the server waits for a command. */
  private waitingSince = this.startedAt
  private transaction: MailTransaction<Recipient> | undefined
  private transfer: Transfer<Recipient> | undefined
  private readonly lookup = new Lookup(sendReply => {
    this.pipelinedReplies.sendSoon()
    if (!this._closing && !this._closed) sendReply()
  })
  private readonly pipelinedReplies = new PipelinedReplies(() => this.lookup.isWaiting)
  private errors = 0
  private readonly recipientErrors: RecipientErrors
  /** Undefined: the listener has no AUTH. */
  private readonly login: Login | undefined
  private isListingExtensions = false
  private tlsText: string | undefined
  private closingSince: number | undefined

  constructor(
    server: SMTPServer,
    socket: Socket,
    client: ClientEndpoint,
    deps: SmtpSessionDeps<Recipient>,
    onClosed: () => void,
  ) {
    super(server, socket, { remoteAddress: client.address, remotePort: client.port })
    this.deps = deps
    this.service = deps.openService(client.address)
    this.recipientErrors = new RecipientErrors(deps.limits)
    const { authentication } = this.service
    this.login =
      authentication && new Login(this, password => authentication.logIn(password), deps.limits.maxFailedLogins)
    this.onClosed = onClosed
  }

  get client(): Pick<IncomingMessage, 'remoteIp' | 'helo' | 'tls'> {
    return {
      remoteIp: this.remoteAddress,
      helo: (this.hostNameAppearsAs || '').slice(0, maxHeloLength),
      tls: this.secure ? this.describeTls() : null,
    }
  }

  get stage(): 'commands' | 'data' | 'reply' {
    if (!this.transfer) return 'commands'
    return this.transfer.isArriving ? 'data' : 'reply'
  }

  /** Applies the timeouts; the server calls it at every tick. */
  check(now: number): void {
    if (this._closing || this._closed) {
      if (this._socket.destroyed) this._onClose()
    } else if (this.transfer) this.transfer.check(now)
    else if (this.lookup.isWaiting) this.lookup.giveUpAfter(this.deps.limits.answerMs, now)
    else if (!this._handlerPending) {
      const code = this.overdue(now)
      if (code) this.cut(code)
    }
  }

  private overdue(now: number): SmtpRefusalCode | undefined {
    const { idleMs, handshakeMs, sessionMs } = this.deps.limits
    if (now - this.waitingSince >= (this._upgrading ? handshakeMs : idleMs)) return 'idle'
    // A transaction under way gets some more time, so that an honest one is not cut.
    return now - this.startedAt >= sessionMs + (this.transaction ? idleMs : 0) ? 'session_expired' : undefined
  }

  /** Sends the reply for the reason and closes the session. */
  cut(code: SmtpRefusalCode): void {
    if (this._closing || this._closed) return
    sessionsCut.inc({ listener: this.deps.kind, reason: code })
    this.deps.log.info(
      { session_id: this.id, remote_ip: this.remoteAddress, reason: code },
      'SMTP session closed by the server',
    )
    this.reply(replyFor(code))
    this.close()
    this.transfer?.abandon(code)
  }

  override close(): void {
    this.closingSince ??= performance.now()
    super.close()
  }

  /** Destroys the connection when it was closed so long ago, although the client has not closed its side. */
  hangUp(afterMs: number): void {
    if (this.closingSince === undefined || performance.now() - this.closingSince < afterMs) return
    this._socket.destroy()
    this._onClose()
  }

  replyToData(reply: SmtpReply): void {
    this.transaction = undefined
    this.transfer = undefined
    this.waitingSince = performance.now()
    this.reply(reply)
  }

  reply({ code, enhanced, text }: SmtpReply): void {
    this.send(code, text, enhanced)
  }

  private describeTls(): string {
    const { version = 'TLS', standardName, name } = this.tlsOptions || {}
    this.tlsText ??= `${version} ${standardName ?? name ?? ''}`.trim().slice(0, 64)
    return this.tlsText
  }

  /** The reply to a command that came alone is sent at once. */
  private holdPipelinedReplies(): void {
    const { _parser: parser } = this
    if (parser instanceof CommandParser && parser.isPipelined) this.pipelinedReplies.hold(this._socket)
  }

  /** Whether the client may log in as the connection is now. */
  private get mayLogIn(): boolean {
    return (
      this.service.authentication !== undefined && (this.secure || this.deps.mayLogInWithoutTls(this.remoteAddress))
    )
  }

  private get commandReceivedAt(): number {
    const { _parser: parser } = this
    return parser instanceof CommandParser ? parser.receivedAt : performance.now()
  }

  private get isLoggedIn(): boolean {
    return Boolean(this.session.user)
  }

  /** AUTH is refused, not unknown, without TLS; but then it is not listed either. */
  override _isDisabled(command: string): boolean {
    if (command !== 'AUTH') return super._isDisabled(command)
    return this.isListingExtensions ? !this.mayLogIn : this.service.authentication === undefined
  }

  override handler_EHLO(command: Buffer, done: Done): void {
    this.isListingExtensions = true
    super.handler_EHLO(command, () => {
      this.isListingExtensions = false
      done()
    })
  }

  override handler_AUTH(command: Buffer, done: Done): void {
    if (this.isLoggedIn || this.transaction) this.login?.refuse('auth_done', done)
    else if (this.mayLogIn) this.login?.begin(command.toString(), done)
    else this.login?.refuse('auth_needs_tls', done)
  }

  prompt(text: string, next: (answer: string, done: Done) => void): void {
    this.send(334, text, false)
    this._nextHandler = (line, done) => next(line.toString(), done)
  }

  setLoggedIn(): void {
    this.session.user = 'api-key'
  }

  logRefusedLogin({ code, cause }: SmtpRefusal): void {
    const fields = { session_id: this.id, remote_ip: this.remoteAddress, reason: code }
    if (code === 'auth_unavailable') this.deps.log.error({ ...fields, err: cause }, 'SMTP login failed')
    else this.deps.log.info(fields, 'SMTP login refused')
  }

  override handler_MAIL(command: Buffer, done: Done): void {
    this.holdPipelinedReplies()
    const path = this.parseMail(command.toString())
    if (path.kind === 'refused') {
      this.reply(replyFor(path.code))
      done()
    } else this.whileAllowed('MAIL', done, () => this.beginTransaction(path))
  }

  private parseMail(line: string): ReturnType<typeof parsePath> {
    const refused = (code: SmtpRefusalCode) => ({ kind: 'refused', code }) as const
    const { limits, smtputf8, isClosing } = this.deps
    const { authentication } = this.service
    if (authentication && !this.isLoggedIn) return refused(this.mayLogIn ? 'auth_required' : 'tls_required')
    if (this.transaction) return refused('out_of_order')
    if (isClosing()) return refused('shutting_down')
    const path = parsePath('MAIL FROM', line, false)
    if (path.kind === 'refused') return path
    const extensions = { maxBytes: limits.maxMessageBytes, smtputf8, auth: authentication !== undefined }
    const error = mailParameterError(path, extensions)
    return error ? refused(error) : path
  }

  private beginTransaction({ address, parameters }: ParsedPath): SmtpReply {
    const smtputf8 = parameters.has('SMTPUTF8')
    this.transaction = { id: newSortableToken(), mailFrom: address, smtputf8, recipients: new Map() }
    return replies.mail
  }

  /** Replies with what `begin` gives, when the client may still send, or with why it may not. */
  private whileAllowed(command: 'MAIL' | 'DATA', done: Done, begin: () => SmtpReply): void {
    const conclude = (reply: SmtpReply) => {
      this.reply(reply)
      done()
    }
    const access = this.service.authentication?.requireAccess(command, this.commandReceivedAt)
    if (access) this.waitFor(access, { succeed: () => conclude(begin()), fail: refusal => conclude(refusal.reply) })
    else conclude(begin())
  }

  override handler_RCPT(command: Buffer, done: Done): void {
    this.holdPipelinedReplies()
    const { transaction } = this
    const path = parseRecipient(command.toString(), transaction, this.deps.limits.maxRecipients)
    if (path.kind === 'refused') this.refuseRecipient(refuseMail(path.code), done)
    else
      this.waitFor(this.service.findRecipient(path.address, this.commandReceivedAt), {
        succeed: recipient => {
          transaction?.recipients.set(recipient.address.toLowerCase(), recipient)
          recipientReplies.inc({ listener: this.deps.kind, result: 'accepted' })
          this.reply(replies.rcpt)
          done()
        },
        fail: refusal => this.refuseRecipient(refusal, done),
      })
  }

  /** Waits for the service, at most as long as a reply may take, before the reply to a command. */
  waitFor<Result>(work: Promise<Result>, replies: LookupReplies<Result>): void {
    this.lookup.waitFor(work, replies)
  }

  private refuseRecipient(refusal: SmtpRefusal, done: Done): void {
    recipientReplies.inc({ listener: this.deps.kind, result: refusal.code })
    const fields = { session_id: this.id, remote_ip: this.remoteAddress, reason: refusal.code }
    if (refusal.code === 'our_trouble') this.deps.log.error({ ...fields, err: refusal.cause }, 'recipient refused')
    else this.deps.log.info(fields, 'recipient refused')
    const { reasonToClose, delayMs } = this.recipientErrors.count(refusal.code)
    const sendReply = () => {
      this.reply(refusal.reply)
      done()
    }
    if (reasonToClose) this.cut(reasonToClose)
    else if (delayMs === 0) sendReply()
    else setTimeout(sendReply, delayMs)
  }

  override handler_DATA(command: Buffer, done: Done): void {
    const refusal = this.dataError(command.toString())
    if (refusal) {
      this.reply(replyFor(refusal))
      done()
    } else this.whileAllowed('DATA', done, () => this.beginTransfer())
  }

  private dataError(line: string): SmtpRefusalCode | undefined {
    if (!this.transaction) return 'out_of_order'
    if (line.trim().length > 4) return 'parameter_malformed'
    return this.transaction.recipients.size === 0 ? 'no_recipients' : undefined
  }

  private beginTransfer(): SmtpReply {
    const { transaction, _parser: parser } = this
    if (!transaction || !(parser instanceof CommandParser)) return replyFor('out_of_order')
    this.transfer = new Transfer(this, transaction, this.deps)
    parser.startData(this.transfer)
    return replies.data
  }

  /** Counts errors: all replies pass here, those of smtp-server as well. */
  override send(code: number, text?: string | string[] | null, context?: string | false): void {
    super.send(code, text, context)
    if (code < 400 || code === 421 || context === '4.5.3') return
    if (++this.errors >= this.deps.limits.maxErrors) this.cut('too_many_errors')
  }

  /**
   * smtp-server has one enhanced code for each basic code (550 is 5.1.1, 452 is 4.2.2, 552 is 5.2.2); our replies bring
   * their own. Only the simple commands, and 421, get the library's.
   */
  override _getEnhancedStatusCode(code: number, context?: string | false): string {
    if (typeof context === 'string' && enhancedStatusCode.test(context)) return context
    if (code === 421 && context !== false) return '4.7.0'
    return super._getEnhancedStatusCode(code, context)
  }

  /** Without the library's wait of 100 ms for early talkers, and without its reverse DNS look-up. */
  override init(): void {
    this._setListeners(() => this.connectionReady())
  }

  override _armTimeout(): void {}

  override _createParser(): CommandParser {
    const parser = new CommandParser({ maxCommandLength: this._server.options.maxCommandLength })
    parser.oncommand = (command, next) => this._onCommand(command, next)
    parser.on('error', () => this.cut('line_too_long'))
    return parser
  }

  override _whenWritable(next: () => void): void {
    this.waitingSince = performance.now()
    super._whenWritable(next)
  }

  override _resetSession(): void {
    super._resetSession()
    this.transaction = undefined
  }

  override _onClose(): void {
    const isFirst = !this._closed
    super._onClose()
    if (!isFirst) return
    this.transfer?.abandon('client_gone')
    this.lookup.forget()
    this.onClosed()
  }
}
