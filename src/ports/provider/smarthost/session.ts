import { Readable, type Transform } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { ProviderReply, Submission, SubmissionPhase } from '../port.ts'
import type { SmarthostAddress } from './address.ts'
import { withFinalDot } from './dot-stuffing.ts'
import { noReply, readReply, type Transcript } from './replies.ts'

/** A connection to the relay after EHLO, TLS and AUTH, for one mail transaction after the other. */
export interface SmarthostSession {
  /** Does the relay offer SMTPUTF8? */
  readonly smtputf8: boolean
  /** How many mail transactions were begun. */
  readonly transactions: number
  /** Is the connection still open? */
  readonly isLive: boolean
  /** Runs one mail transaction. Never rejects; closes the connection when the submission's signal fires. */
  transact(submission: Submission): Promise<Transcript>
  /** Aborts a mail transaction that was not completed (RSET). */
  reset(): Promise<void>
  /** Sends QUIT; resolves when the connection is closed. */
  quit(): Promise<void>
  /** Calls back when the connection is closed. */
  onceClosed(listener: () => void): void
}

export interface SessionOptions {
  readonly address: SmarthostAddress
  /** Our name in EHLO. */
  readonly hostname: string
  /** How long the relay may take to be ready for a transaction, in milliseconds. */
  readonly readyMs: number
  /** How long the relay may be silent after that, in milliseconds. */
  readonly silenceMs: number
  /** NOTIFY of each recipient, where the relay offers DSN (RFC 3461 §4.1); null: the relay's default. */
  readonly notify: readonly ('SUCCESS' | 'FAILURE' | 'DELAY')[] | null
}

/** A session could not be opened; `reply` is the reason. */
export class SessionError extends Error {
  readonly reply: ProviderReply
  constructor(reply: ProviderReply) {
    super(reply.text)
    this.name = 'SessionError'
    this.reply = reply
  }
}

// Messages are sent in pieces, so that a connection that ends early is told from one that ends after the final dot.
const pieceBytes = 64 * 1024
const quitTimeoutMs = 2000

/**
 * Connects and goes through EHLO, STARTTLS and AUTH as the address asks.
 * @throws SessionError with the phase at which it stopped.
 */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<SmarthostSession> {
  const { credentials } = options.address
  const connection = new Connection(options)

  const connectError = await connection.run(signal, done => connection.smtp.connect(done))
  if (connectError) throw connection.refused(connection.phaseBeforeAuth(connectError), connectError)
  const smtputf8 = /^250[ -]SMTPUTF8\b/im.test(connection.replies.at(-1) ?? '')
  if (credentials) {
    if (!connection.smtp.allowsAuth) throw connection.refused('auth', new Error('The relay does not offer AUTH.'))
    const auth = { user: credentials.user, pass: credentials.password }
    const authError = await connection.run(signal, done => connection.smtp.login(auth, done))
    if (authError) throw connection.refused('auth', authError)
  }

  let transactions = 0
  return {
    smtputf8,
    get transactions() {
      return transactions
    },
    get isLive() {
      return connection.ended === null
    },
    transact(submission) {
      transactions++
      return transact(connection, submission, options.notify)
    },
    async reset() {
      const error = await connection.run(AbortSignal.timeout(options.readyMs), done => connection.smtp.reset(done))
      if (error) connection.smtp.close()
    },
    async quit() {
      if (connection.ended !== null) return
      const timer = setTimeout(() => connection.smtp.close(), quitTimeoutMs)
      connection.smtp.quit()
      await connection.closed
      clearTimeout(timer)
    },
    onceClosed: listener => void connection.closed.then(listener),
  }
}

async function transact(
  connection: Connection,
  submission: Submission,
  notify: SessionOptions['notify'],
): Promise<Transcript> {
  const { mailFrom, recipients, message, signal, withdraw, mayBeAccepted } = submission
  connection.replies = []
  const unsent = { replies: [], handedOver: false, ended: connection.ended, unsendable: null, withdrawn: true }
  if (withdraw?.aborted || !mayBeAccepted()) return unsent
  let handedOver = false
  let withdrawn = false
  const giveUp = () => {
    withdrawn = true
    connection.giveUp('The message was withdrawn.')
  }
  const mayGoOn = () => {
    withdraw?.removeEventListener('abort', giveUp)
    connection.corkThisTurn()
    // Once the last piece has gone the relay may have accepted the message; a withdrawal comes before that, or not at all.
    if (mayBeAccepted()) return true
    giveUp()
    return false
  }
  const onHandedOver = () => {
    handedOver = true
  }
  const content =
    message.length <= pieceBytes
      ? inOnePiece(connection, message, mayGoOn, onHandedOver)
      : inPieces(message, mayGoOn).once('end', onHandedOver)
  const dsn = notify ? { dsn: notificationsOf(submission, notify) } : {}
  const envelope = { from: mailFrom, to: [...recipients], size: message.length, ...dsn }
  withdraw?.addEventListener('abort', giveUp, { once: true })
  connection.corkThisTurn()
  const error = await connection.run(signal, done => connection.smtp.send(envelope, content, done))
  withdraw?.removeEventListener('abort', giveUp)
  // nodemailer reports a socket that is already closed, or half closed, like an error in the message, without closing.
  if (error && (error as NodemailerError).code === 'ECONNECTION') connection.giveUp(error.message)
  const { replies, ended } = connection
  const isUnsendable = error !== undefined && ended === null && replies.length === 0
  return { replies: [...replies], handedOver, ended, unsendable: isUnsendable ? error.message : null, withdrawn }
}

/** Asks for notifications with the header only, our id of the email, and the recipient's address as submitted. RFC 3461 §4. */
function notificationsOf({ emailId, recipients }: Submission, notify: NonNullable<SessionOptions['notify']>) {
  const [recipient = '', ...more] = recipients
  // nodemailer sends one ORCPT for all recipients; an address beyond ASCII would need another form (RFC 6533 §3).
  const hasOrcpt = more.length === 0 && /^[!-~]+$/.test(recipient)
  return {
    ret: 'HDRS' as const,
    envid: emailId,
    notify: [...notify],
    ...(hasOrcpt && { orcpt: `rfc822;${recipient}` }),
  }
}

/**
 * The content in pieces, for after the reply to DATA. Before each, and before the end, at which nodemailer sends the final
 * dot, `mayGoOn` is asked; after no, nothing more comes.
 */
function inPieces(message: Buffer, mayGoOn: () => boolean): Readable {
  let sent = 0
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      if (!mayGoOn()) return
      this.push(sent < message.length ? message.subarray(sent, sent + pieceBytes) : null)
      sent += pieceBytes
    },
  })
}

/**
 * A short message as what nodemailer needs of a stream: it calls `pipe` after the reply to DATA, with the stream that escapes
 * dots and is piped into the socket. Both streams cost more than transmitting the message, so where its lines end as they
 * have to, it is written to the socket past them.
 */
function inOnePiece(
  connection: Connection,
  message: Buffer,
  mayGoOn: () => boolean,
  onHandedOver: () => void,
): Readable {
  const pipe = (escaped: Transform) => {
    if (!mayGoOn()) return
    onHandedOver()
    const transmitted = withFinalDot(message)
    const { _socket: socket } = connection.smtp
    if (transmitted && socket) {
      escaped.unpipe()
      socket.write(transmitted)
    } else escaped.end(message)
  }
  return { pipe } as unknown as Readable
}

type NodemailerError = Error & { readonly response?: unknown; readonly command?: unknown; readonly code?: unknown }

/** nodemailer's SMTP connection, with the relay's replies in order, and one place that knows when and why it ended. */
class Connection {
  readonly smtp: SMTPConnection
  replies: string[] = []
  /** Why the connection ended; null: it is open. */
  ended: string | null = null
  readonly closed: Promise<void>

  constructor({ address, hostname, readyMs, silenceMs }: SessionOptions) {
    this.smtp = new SMTPConnection({
      host: address.host,
      port: address.port,
      secure: address.implicitTls,
      requireTLS: address.requireTls,
      name: hostname,
      connectionTimeout: readyMs,
      greetingTimeout: readyMs,
      dnsTimeout: readyMs,
      socketTimeout: silenceMs,
      socketCloseTimeout: 0,
      allowInternalNetworkInterfaces: true,
      tls: { rejectUnauthorized: address.verifyCertificate, minVersion: 'TLSv1.2' },
      // nodemailer's errors do not say at which step they happened; the replies, read from its log, do.
      transactionLog: true,
      logger: replyLogger(raw => this.replies.push(raw)),
    })
    this.smtp.on('error', (error: Error) => {
      this.ended ??= error.message
      this.failure ??= error
    })
    this.closed = new Promise(resolve => {
      this.smtp.once('end', () => {
        this.ended ??= 'The relay closed the connection.'
        resolve()
      })
    })
  }

  private failure: Error | undefined
  private isCorked = false

  /** Runs one of nodemailer's calls. Some of them never call back when the connection ends, so that is watched as well. */
  async run(signal: AbortSignal, start: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
    const abort = () => this.giveUp('The relay took too long.')
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await Promise.race([
        new Promise<Error | undefined>(resolve => start(error => resolve(error ?? undefined))),
        this.closed.then(() => this.failure ?? new Error(this.ended ?? '')),
      ])
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  giveUp(why: string): void {
    this.ended ??= why
    this.smtp.close()
  }

  /**
   * What is written until the end of this turn of the event loop leaves together, such as pipelined commands (RFC 2920 §3.1),
   * or a short message and its final dot: a packet of its own costs more than the command.
   */
  corkThisTurn(): void {
    const { _socket: socket } = this.smtp
    if (!socket || this.isCorked) return
    this.isCorked = true
    socket.cork()
    setImmediate(() => {
      this.isCorked = false
      socket.uncork()
    })
  }

  refused(phase: SubmissionPhase, error: NodemailerError): SessionError {
    this.smtp.close()
    return new SessionError(
      typeof error.response === 'string' ? readReply(phase, error.response) : noReply(phase, error.message),
    )
  }

  phaseBeforeAuth(error: NodemailerError): SubmissionPhase {
    if (error.command === 'STARTTLS' || this.smtp.upgrading) return 'starttls'
    if (error.command === 'EHLO' || error.command === 'HELO') return 'ehlo'
    if (this.replies.length === 0) return this.smtp.stage === 'connected' ? 'banner' : 'connect'
    return this.replies.length === 1 && typeof error.response === 'string' ? 'banner' : 'ehlo'
  }
}

/** A logger for nodemailer that passes on the relay's replies and drops everything else. */
function replyLogger(onReply: (raw: string) => void) {
  const silent = () => undefined
  const debug = (entry: { readonly tnx?: unknown }, text: unknown) => {
    if (entry.tnx === 'server' && typeof text === 'string') onReply(text)
  }
  return { trace: silent, debug, info: silent, warn: silent, error: silent, fatal: silent }
}
