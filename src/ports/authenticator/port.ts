import type { MessageSource } from '../../mail/message-source.ts'

/** RFC 8601 §2.7's words for a result. */
export type AuthResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'policy' | 'temperror' | 'permerror'

/** What one check found. */
export interface Verdict {
  readonly result: AuthResult
  /** Whom it speaks of: SPF's domain, DKIM's d=, the domain in From. */
  readonly domain: string | null
  /** Does that domain align with the one in From (RFC 9989 §4.4)? null where there is nothing to align. */
  readonly aligned: boolean | null
  /** What a person reads to understand the result. */
  readonly detail: string | null
}

/** What SPF, DKIM, DMARC and ARC say of one message. Facts only: what follows from them is decided elsewhere. */
export interface Verdicts {
  readonly spf: Verdict
  /** Of the signatures the one that counts most: an aligned pass, else a pass, else the first. */
  readonly dkim: Verdict
  readonly dmarc: Verdict & {
    /** The policy that applies to this message, after `sp`, `np` and `t`; null without a record. */
    readonly policy: 'none' | 'quarantine' | 'reject' | null
  }
  readonly arc: Verdict & { readonly sealer: string | null }
  /** The addresses in the From fields: exactly one where the message is in order. */
  readonly from: readonly string[]
}

/** What is checked: the bytes as they came, and the envelope and session they came with. */
export interface AuthenticationInput {
  readonly content: MessageSource
  readonly remoteIp: string
  readonly helo: string
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
}

/** Checks who sent a message. Broken DNS and broken messages are results, never errors. */
export interface Authenticator {
  authenticate(what: AuthenticationInput): Promise<Verdicts>
}
