import { isDatabaseFull } from '../base/database/database.ts'

/** An SMTP reply: basic code, enhanced status code (RFC 3463) and text. */
export interface SmtpReply {
  readonly code: number
  readonly enhanced: string
  readonly text: string
}

/**
 * All refusals of the SMTP server. Senders suppress our users by these codes: 5yz only where the sender must change
 * something, 4yz where the same may succeed later. RFC 5321 §4.2.2, RFC 3463 §3, RFC 5248.
 */
const replies = {
  // The envelope.
  sender_malformed: [501, '5.1.7', 'The reverse-path is malformed'],
  sender_not_allowed: [553, '5.1.7', 'Source routes and gateway addresses are not accepted'],
  address_malformed: [501, '5.1.3', 'The recipient address is malformed'],
  smtputf8_required: [553, '5.6.7', 'A non-ASCII address needs SMTPUTF8'],
  mailbox_unknown: [550, '5.1.1', 'There is no such mailbox here'],
  relay_denied: [550, '5.7.1', 'Relaying is denied'],
  receiving_not_ready: [451, '4.7.1', 'This domain does not receive mail here yet'],
  too_many_recipients: [452, '4.5.3', 'Too many recipients, send the rest in another transaction'],
  no_recipients: [554, '5.5.1', 'There are no valid recipients'],
  // Commands.
  out_of_order: [503, '5.5.1', 'Commands are out of order'],
  parameter_unknown: [555, '5.5.4', 'A parameter is not supported'],
  parameter_malformed: [501, '5.5.4', 'A parameter is malformed'],
  tls_required: [530, '5.7.0', 'Must issue a STARTTLS command first'],
  auth_required: [530, '5.7.0', 'Authentication required'],
  line_too_long: [421, '4.5.2', 'The command line is too long'],
  // AUTH (RFC 4954 §4, §6).
  auth_needs_tls: [538, '5.7.11', 'Encryption required for requested authentication mechanism'],
  auth_done: [503, '5.5.1', 'Already authenticated'],
  auth_mechanism_unknown: [504, '5.5.4', 'The authentication mechanism is not supported; use PLAIN or LOGIN'],
  auth_malformed: [501, '5.5.2', 'The authentication response cannot be decoded'],
  auth_canceled: [501, '5.7.0', 'Authentication canceled'],
  auth_failed: [535, '5.7.8', 'The password is not a valid API key'],
  auth_unavailable: [454, '4.7.0', 'Temporary authentication failure'],
  // Submission, with the text of the API.
  submission_denied: [550, '5.7.1', 'The sender is not allowed'],
  recipient_suppressed: [550, '5.1.1', 'The recipient is on the suppression list'],
  message_malformed: [554, '5.6.0', 'The message is malformed'],
  message_refused: [554, '5.7.1', 'The message is refused'],
  quota_exceeded: [452, '4.7.1', 'The plan includes no more emails this month'],
  rate_limited: [450, '4.7.1', 'Too many messages, try again later'],
  repeated_key_in_progress: [450, '4.7.1', 'A message with this idempotency key is still in progress'],
  // The message.
  message_too_large: [552, '5.3.4', 'The message is too large'],
  from_malformed: [550, '5.7.1', 'There must be one From field with one address'],
  dmarc_reject: [550, '5.7.26', 'The message fails the DMARC policy of the domain in From'],
  mail_loop: [554, '5.4.6', 'The message has gone through too many servers'],
  reports_only: [550, '5.7.1', 'This address accepts delivery reports only'],
  mailbox_gone: [451, '4.2.0', 'The mailbox has just been removed'],
  // Our own failures.
  scanner_away: [451, '4.3.2', 'The message cannot be scanned now, try again later'],
  resolver_away: [451, '4.4.3', 'DNS lookups fail now, try again later'],
  our_trouble: [451, '4.3.0', 'Local error in processing, try again later'],
  answer_late: [451, '4.3.2', 'Processing took too long, try again later'],
  disk_full: [452, '4.3.1', 'Insufficient system storage, try again later'],
  // These end the session.
  tls_unavailable: [421, '4.7.0', 'There is no TLS certificate yet, try again later'],
  access_ended: [421, '4.7.0', 'The API key is no longer valid'],
  too_many_logins: [421, '4.7.0', 'Too many failed logins'],
  too_many_sessions: [421, '4.7.0', 'Too many sessions, try again later'],
  too_many_sessions_from_address: [421, '4.7.0', 'Too many sessions from your address, try again later'],
  too_many_errors: [421, '4.7.0', 'Too many errors'],
  too_many_unknown: [421, '4.7.0', 'Too many unknown recipients'],
  idle: [421, '4.4.2', 'Idle for too long'],
  too_slow: [421, '4.4.2', 'The message arrives too slowly'],
  session_expired: [421, '4.4.2', 'The session has lasted too long'],
  shutting_down: [421, '4.3.2', 'The server is shutting down, try again later'],
} as const satisfies Record<string, readonly [code: number, enhanced: string, text: string]>

export type SmtpRefusalCode = keyof typeof replies

export interface SmtpRefusalDetail {
  /** Replaces the text above; sent as ASCII on one line. */
  readonly detail?: string
  /** For the log only. */
  readonly cause?: unknown
}

/** Ends a command, a transaction or a session as expected, with this reply. */
export class SmtpRefusal extends Error {
  override readonly name = 'SmtpRefusal'
  readonly code: SmtpRefusalCode
  readonly reply: SmtpReply

  constructor(code: SmtpRefusalCode, { detail, cause }: SmtpRefusalDetail) {
    super(`${code}${detail ? `: ${detail}` : ''}`, { cause })
    this.code = code
    this.reply = replyFor(code, detail)
  }
}

/** The reply for this code, with its own text or `detail`. */
export function replyFor(code: SmtpRefusalCode, detail?: string): SmtpReply {
  const [basic, enhanced, text] = replies[code]
  return { code: basic, enhanced, text: detail === undefined ? text : printable(detail) }
}

/** The refusal with this code; throw it. */
export function refuseMail(code: SmtpRefusalCode, detail: SmtpRefusalDetail = {}): SmtpRefusal {
  return new SmtpRefusal(code, detail)
}

const diskFullErrors = new Set(['ENOSPC', 'EDQUOT'])

/** The refusal for an error: what is not a refusal is our own failure (4yz), with the error as cause for the log. */
export function toSmtpRefusal(error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const isFull = (typeof code === 'string' && diskFullErrors.has(code)) || isDatabaseFull(error)
  return refuseMail(isFull ? 'disk_full' : 'our_trouble', { cause: error })
}

/** A reply line has at most 512 octets of ASCII (RFC 5321 §4.5.3.1.5). */
function printable(text: string): string {
  return text.replace(/[^ -~]+/g, ' ').slice(0, 400)
}
