import type { MessageSource } from '../../mail/message-source.ts'

/** The result codes of RFC 8601 §2.7. */
export type AuthResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'policy' | 'temperror' | 'permerror'

/** The result of one check. */
export interface Verdict {
  readonly result: AuthResult
  /** The domain that was checked: SPF's, DKIM's d=, the one in From. null: there is none. */
  readonly domain: string | null
  /** Does that domain align with the one in From (RFC 9989 §4.4)? null where there is nothing to align. */
  readonly aligned: boolean | null
  /** Explains the result to a person. */
  readonly detail: string | null
}

/** The results of SPF, DKIM, DMARC and ARC for one message. Facts only: the inbound pipeline decides what follows from them. */
export interface Verdicts {
  readonly spf: Verdict
  /** One of the signatures: an aligned pass, else a pass, else the first. */
  readonly dkim: Verdict
  readonly dmarc: Verdict & {
    /** The policy that applies to this message, after `sp`, `np` and `t`; null without a record. */
    readonly policy: 'none' | 'quarantine' | 'reject' | null
  }
  /** `sealer`: the domain that set the last ARC-Seal. */
  readonly arc: Verdict & { readonly sealer: string | null }
  /** The addresses in the From fields. A valid message has exactly one; two From fields always give at least two entries. */
  readonly from: readonly string[]
}

/** A message as it came over SMTP: its bytes, its reverse-path, and the client. */
export interface AuthenticationInput {
  readonly content: MessageSource
  readonly remoteIp: string
  readonly helo: string
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
}

/**
 * Checks who sent a message.
 *
 * An adapter
 * - reports a sender's broken DNS as `temperror` and a broken message as `permerror`; it rejects only when the message
 *   cannot be read from disk;
 * - does not change the bytes: bare LF and CR are normalised to CRLF for the checks only;
 * - bounds its time and work, however many signatures, fields or DNS lookups a message asks for.
 */
export interface Authenticator {
  authenticate(input: AuthenticationInput): Promise<Verdicts>
}
