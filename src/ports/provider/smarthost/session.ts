import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { ProviderReply, Submission, SubmissionPhase } from '../port.ts'
import type { SmarthostAddress } from './address.ts'
import { noReply, readReply, type Transcript } from './replies.ts'

/** A connection to the relay that is past EHLO, TLS and AUTH, for one mail transaction after the other. */
export interface SmarthostSession {
  /** Does the relay offer SMTPUTF8? */
  readonly smtputf8: boolean
  /** Mail transactions begun on it. */
  readonly transactions: number
  /** May another transaction be begun? */
  readonly isLive: boolean
  /** One mail transaction. Never throws; ends with the connection when the submission's signal fires. */
  transact(submission: Submission): Promise<Transcript>
  /** Ends a transaction that was not carried through (RSET). */
  reset(): Promise<void>
  /** Says QUIT; resolves when the connection is closed. */
  quit(): Promise<void>
  /** Calls back when the connection is closed. */
  onceClosed(listener: () => void): void
}

export interface SessionOptions {
  readonly address: SmarthostAddress
  /** The name in EHLO. */
  readonly hostname: string
  /** How long the relay may take to be ready for a transaction, in milliseconds. */
  readonly readyMs: number
  /** How long the relay may be silent then, in milliseconds. */
  readonly silenceMs: number
  /** Of what the relay is to notify the reverse-path, where it offers to (RFC 3461 §4.1); null: as it does by itself. */
  readonly notify: readonly ('SUCCESS' | 'FAILURE' | 'DELAY')[] | null
}

/** A connection could not be made ready: `reply` is what stopped it. */
export class SessionError extends Error {
  readonly reply: ProviderReply
  constructor(reply: ProviderReply) {
    super(reply.text)
    this.name = 'SessionRefused'
    this.reply = reply
  }
}

// Larger messages go piece by piece, so that a connection that ends early is not taken for one that ended at the dot.
const pieceBytes = 64 * 1024
const quitMs = 2000

/**
 * Connects and goes through EHLO, STARTTLS and AUTH as the address asks.
 * @throws SessionRefused with the phase at which it stopped.
 */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<SmarthostSession> {
  const { credentials } = options.address
  const connection = new Connection(options)

  const unready = await connection.until(signal, done => connection.smtp.connect(done))
  if (unready) throw connection.refused(connection.phaseBeforeAuth(unready), unready)
  const smtputf8 = /^250[ -]SMTPUTF8\b/im.test(connection.replies.at(-1) ?? '')
  if (credentials) {
    if (!connection.smtp.allowsAuth) throw connection.refused('auth', new Error('The relay does not offer AUTH.'))
    const auth = { user: credentials.user, pass: credentials.password }
    const denied = await connection.until(signal, done => connection.smtp.login(auth, done))
    if (denied) throw connection.refused('auth', denied)
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
      const failed = await connection.until(AbortSignal.timeout(options.readyMs), done => connection.smtp.reset(done))
      if (failed) connection.smtp.close()
    },
    async quit() {
      if (connection.ended !== null) return
      const timer = setTimeout(() => connection.smtp.close(), quitMs)
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
  const { mailFrom, recipients, message, signal } = submission
  connection.replies = []
  let handedOver = message.length <= pieceBytes
  const content = handedOver
    ? message
    : inPieces(message).once('end', () => {
        handedOver = true
      })
  const dsn = notify ? { dsn: notificationsOf(submission, notify) } : {}
  const envelope = { from: mailFrom, to: [...recipients], size: message.length, ...dsn }
  const error = await connection.until(signal, done => connection.smtp.send(envelope, content, done))
  // A socket may be gone, or half closed, before its connection says so; nodemailer says it like an error in the message.
  if (error && (error as NodemailerError).code === 'ECONNECTION') connection.giveUp(error.message)
  const { replies, ended } = connection
  const isOurs = error !== undefined && ended === null && replies.length === 0
  return { replies: [...replies], handedOver, ended, unsendable: isOurs ? error.message : null }
}

/** The header only comes back, with our name for the email, and the recipient as we have it. RFC 3461 §4. */
function notificationsOf({ emailId, recipients }: Submission, notify: NonNullable<SessionOptions['notify']>) {
  const [recipient = '', ...others] = recipients
  // nodemailer gives all recipients the same, and an address beyond ASCII has another form (RFC 6533 §3).
  const isOne = others.length === 0 && /^[!-~]+$/.test(recipient)
  return { ret: 'HDRS' as const, envid: emailId, notify: [...notify], ...(isOne && { orcpt: `rfc822;${recipient}` }) }
}

function inPieces(message: Buffer): Readable {
  let sent = 0
  return new Readable({
    highWaterMark: pieceBytes,
    read() {
      this.push(sent < message.length ? message.subarray(sent, sent + pieceBytes) : null)
      sent += pieceBytes
    },
  })
}

type NodemailerError = Error & { readonly response?: unknown; readonly command?: unknown; readonly code?: unknown }

/** nodemailer's connection, with its replies in order and its end in one place. */
class Connection {
  readonly smtp: SMTPConnection
  replies: string[] = []
  /** Why the connection ended; null: it lives. */
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
      // The replies in their order tell the phase, which nodemailer's errors do not.
      transactionLog: true,
      logger: listener(raw => this.replies.push(raw)),
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

  /** Runs one of nodemailer's calls; done too when the connection ends, which not all of them report. */
  async until(signal: AbortSignal, start: (done: (error?: Error | null) => void) => void): Promise<Error | undefined> {
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

/** A logger that hears the relay's replies and nothing else. */
function listener(onReply: (raw: string) => void) {
  const silent = () => undefined
  const debug = (entry: { readonly tnx?: unknown }, text: unknown) => {
    if (entry.tnx === 'server' && typeof text === 'string') onReply(text)
  }
  return { trace: silent, debug, info: silent, warn: silent, error: silent, fatal: silent }
}
