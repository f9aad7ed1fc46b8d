import type { Config } from '../../base/config/config.ts'

/** The configuration of the SMTP server. */
export type SmtpConfig = Pick<
  Config,
  | 'smtpProxies'
  | 'smtpBanner'
  | 'hostname'
  | 'maxMessageBytes'
  | 'maxRecipients'
  | 'maxSessions'
  | 'maxSessionsPerAddress'
  | 'sessionSeconds'
  | 'idleSeconds'
  | 'minBytesPerSecond'
  | 'answerSeconds'
>

/** Times that only tests change, because they cannot wait that long. In milliseconds. */
export interface SmtpTimeouts {
  /** The window over which the transfer rate of a message is measured. */
  readonly rateWindowMs: number
  /** By how much each further unknown recipient delays its reply. */
  readonly unknownDelayMs: number
  /** How long a TLS handshake may take. */
  readonly handshakeMs: number
  /** How long a message may go on arriving when the server closes. */
  readonly dataGraceMs: number
  /** How long our reply to a message that has arrived may take when the server closes. */
  readonly drainMs: number
  /** How long a client may take to close its side, once the closing server has ended its session. */
  readonly farewellMs: number
  /** How long a load balancer may take for its header. */
  readonly proxyHeaderMs: number
}

const defaultTimeouts: SmtpTimeouts = {
  rateWindowMs: 30_000,
  unknownDelayMs: 250,
  handshakeMs: 30_000,
  dataGraceMs: 3000,
  drainMs: 30_000,
  farewellMs: 500,
  proxyHeaderMs: 5000,
}

/** The limits of a session; times in milliseconds. */
export interface SessionLimits extends SmtpTimeouts {
  readonly maxMessageBytes: number
  readonly maxRecipients: number
  readonly sessionMs: number
  readonly idleMs: number
  readonly answerMs: number
  readonly minBytesPerSecond: number
  /** Replies of 4yz or 5yz in one session, without those of 4.5.3, which RFC 5321 §4.5.3.1.10 requires. */
  readonly maxErrors: number
  /** RCPT commands past the recipient limit, in one session. */
  readonly maxSurplusRecipients: number
  /** Unknown recipients in one session; the first `promptUnknown` get their reply without delay. */
  readonly maxUnknown: number
  readonly promptUnknown: number
  readonly maxUnknownDelayMs: number
  /** Failed logins in one session. */
  readonly maxFailedLogins: number
  /** RFC 5321 §4.5.3.1.4 requires 512 octets, and more for extensions. */
  readonly maxCommandOctets: number
}

export function sessionLimits(config: SmtpConfig, timeouts: Partial<SmtpTimeouts> = {}): SessionLimits {
  return {
    ...defaultTimeouts,
    ...timeouts,
    maxMessageBytes: config.maxMessageBytes,
    maxRecipients: config.maxRecipients,
    sessionMs: config.sessionSeconds * 1000,
    idleMs: config.idleSeconds * 1000,
    answerMs: config.answerSeconds * 1000,
    minBytesPerSecond: config.minBytesPerSecond,
    maxErrors: 100,
    maxSurplusRecipients: 1000,
    maxUnknown: 20,
    promptUnknown: 3,
    maxUnknownDelayMs: 5000,
    maxFailedLogins: 3,
    maxCommandOctets: 2048,
  }
}

/** The interval at which sessions are checked: short enough for the shortest limit, at most a second. */
export function tickMs(limits: SessionLimits): number {
  const shortest = Math.min(limits.sessionMs, limits.idleMs, limits.answerMs, limits.rateWindowMs, limits.handshakeMs)
  return Math.min(1000, Math.max(20, shortest / 5))
}
