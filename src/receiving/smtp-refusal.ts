import { isDatabaseFull } from '../base/database/database.ts'

/** An SMTP reply: basic code, enhanced status code (RFC 3463) and text. */
export interface SmtpReply {
  readonly code: number
  readonly enhanced: string
  readonly text: string
}

/**
 * Every way in which the SMTP door says no: one closed catalogue. Senders suppress our users by these codes, so 5 means
 * that the sender must change something and 4 that the same may succeed later. RFC 5321 §4.2.2, RFC 3463 §3, RFC 5248.
 */
const catalogue = {
  // The envelope.
  sender_malformed: [501, '5.1.7', 'The reverse-path is malformed'],
  sender_not_allowed: [553, '5.1.7', 'Source routes and gateway addresses are not taken'],
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
  line_too_long: [421, '4.5.2', 'The command line is too long'],
  // The message.
  message_too_large: [552, '5.3.4', 'The message is too large'],
  from_malformed: [550, '5.7.1', 'There must be one From field with one address'],
  dmarc_reject: [550, '5.7.26', 'The message fails the DMARC policy of the domain in From'],
  mail_loop: [554, '5.4.6', 'The message has gone through too many servers'],
  reports_only: [550, '5.7.1', 'This address takes reports of deliveries only'],
  mailbox_gone: [451, '4.2.0', 'The mailbox has just been removed'],
  // Ours.
  scanner_away: [451, '4.3.2', 'The message cannot be scanned now, try again later'],
  resolver_away: [451, '4.4.3', 'Names cannot be looked up now, try again later'],
  our_trouble: [451, '4.3.0', 'We have trouble, try again later'],
  answer_late: [451, '4.3.2', 'We are too slow, try again later'],
  disk_full: [452, '4.3.1', 'We are out of space, try again later'],
  // The session, which ends with it.
  too_many_sessions: [421, '4.7.0', 'Too many sessions, try again later'],
  too_many_sessions_from_address: [421, '4.7.0', 'Too many sessions from your address, try again later'],
  too_many_errors: [421, '4.7.0', 'Too many errors'],
  too_many_unknown: [421, '4.7.0', 'Too many unknown recipients'],
  idle: [421, '4.4.2', 'You have been idle for too long'],
  too_slow: [421, '4.4.2', 'The message comes too slowly'],
  session_expired: [421, '4.4.2', 'The session has lasted too long'],
  shutting_down: [421, '4.3.2', 'We are shutting down, try again later'],
} as const satisfies Record<string, readonly [code: number, enhanced: string, text: string]>

export type SmtpRefusalCode = keyof typeof catalogue

export interface SmtpRefusalDetail {
  /** What the sender reads instead of the catalogue's text; shown as ASCII on one line. */
  readonly detail?: string
  /** For the log only. */
  readonly cause?: unknown
}

/** What ends a command, a transaction or a session as expected, with the reply that says so. */
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

/** The reply for this code, with the catalogue's text or `detail`. */
export function replyFor(code: SmtpRefusalCode, detail?: string): SmtpReply {
  const [basic, enhanced, text] = catalogue[code]
  return { code: basic, enhanced, text: detail === undefined ? text : printable(detail) }
}

/** The refusal with this code; throw it. */
export function refuseMail(code: SmtpRefusalCode, detail: SmtpRefusalDetail = {}): SmtpRefusal {
  return new SmtpRefusal(code, detail)
}

const noSpace = new Set(['ENOSPC', 'EDQUOT'])

/** What an error means to a client: what is not a refusal is our trouble, and the cause is logged. */
export function toSmtpRefusal(error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const isFull = (typeof code === 'string' && noSpace.has(code)) || isDatabaseFull(error)
  return refuseMail(isFull ? 'disk_full' : 'our_trouble', { cause: error })
}

/** A reply line holds 512 octets of ASCII at most (RFC 5321 §4.5.3.1.5). */
function printable(text: string): string {
  return text.replace(/[^ -~]+/g, ' ').slice(0, 400)
}
