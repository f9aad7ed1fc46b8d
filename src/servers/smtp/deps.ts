import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import type { IncomingMessage } from '../../receiving/incoming-message.ts'
import type { ListenerKind } from './metrics.ts'
import type { SessionLimits } from './session-limits.ts'
import type { SpoolFolder } from './spool.ts'

/** A recipient that RCPT accepted. */
export interface SmtpRecipient {
  /** As given, with the domain as a lower-case A-label. */
  readonly address: string
}

/** What a listener does with the mail of one session. Its refusals are SmtpRefusal; one of 421 ends the session. */
export interface MailService<Recipient extends SmtpRecipient> {
  /** Absent: the listener has no AUTH. */
  readonly authentication?: {
    /** Logs the client in, for the rest of the session. @throws SmtpRefusal */
    logIn(password: string): Promise<void>
    /**
     * Called for MAIL and DATA of a client that is logged in, with when the command came (`performance.now()`).
     * @throws SmtpRefusal when it may not, or no longer, send
     */
    requireAccess(command: 'MAIL' | 'DATA', receivedAt: number): Promise<void>
  }
  /** What the reply to a message says before its id: `queued as`. */
  readonly acceptedAs: string
  /**
   * The recipient for the forward-path `address`, as the client wrote it, of a command that came at `receivedAt`.
   * @throws SmtpRefusal
   */
  findRecipient(address: string, receivedAt: number): Promise<Recipient>
  /**
   * Takes the message; resolves after the commit, with the id for the reply.
   * @throws SmtpRefusal
   */
  receive(mail: IncomingMessage<Recipient>): Promise<{ readonly id: string }>
}

/** What the sessions of one server share. */
export interface SmtpSessionDeps<Recipient extends SmtpRecipient> {
  readonly kind: ListenerKind
  /** Opens the service of a session, for a client at this address. */
  openService(clientAddress: string): MailService<Recipient>
  readonly log: Log
  readonly clock: Clock
  readonly limits: SessionLimits
  readonly spoolFolder: SpoolFolder
  /** Does the listener offer SMTPUTF8 (RFC 6531)? */
  readonly smtputf8: boolean
  /** May this client log in without TLS? */
  mayLogInWithoutTls(clientAddress: string): boolean
  /** Whether the server is closing, so that no new transaction may start. */
  isClosing(): boolean
  /** Counts the messages that the service has: +1 when one is handed over, -1 once it has settled. */
  addInFlight(by: 1 | -1): void
}
