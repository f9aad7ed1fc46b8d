import type { Id } from '../../base/ids.ts'

/** Where in the conversation with the provider a reply came, or the connection ended. */
export type SubmissionPhase =
  | 'connect'
  | 'banner'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'final-dot'

/** The provider's own word. */
export interface ProviderReply {
  readonly phase: SubmissionPhase
  /** The SMTP reply code; null where the connection ended without one. */
  readonly code: number | null
  /** RFC 3463, as the reply gives it; null where it gives none. */
  readonly enhancedCode: string | null
  /** The reply's text on one line, or what happened instead. */
  readonly text: string
}

/** What became of one recipient. */
export type SubmissionOutcome =
  /** The provider's server took it (its 250 after the final dot): sent, which is not delivered. */
  | {
      readonly kind: 'accepted'
      readonly reply: ProviderReply
      readonly providerMessageId: string | null
      /** The Message-ID that recipients see, without angle brackets, where it is not ours and known already. */
      readonly wireMessageId?: string | null
    }
  /** Not now: worth another attempt. `ambiguous`: the connection ended after the final dot, so it may have been taken. */
  | { readonly kind: 'deferred'; readonly reply: ProviderReply; readonly ambiguous: boolean }
  /** Refused for good, because of this recipient or this content. */
  | { readonly kind: 'failed'; readonly reply: ProviderReply }
  /** The route is at fault, not the message: costs it no attempt, and holds the route back. */
  | { readonly kind: 'route-trouble'; readonly reply: ProviderReply }

/** One transaction with the provider. */
export interface Submission {
  /** Our name for the email: goes along, so that news of it can name it. */
  readonly emailId: Id<'eml'>
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  /** At least one; canonical addresses with the domain as an A-label. Several only where `grouped` says so. */
  readonly recipients: readonly string[]
  /** The whole message: CRLF line ends, 7 bit, signed. */
  readonly message: Buffer
  /** Give up when this fires. */
  readonly signal: AbortSignal
}

/** What a provider does to what it is handed, so that nothing is claimed that it undoes. */
export interface ProviderTraits {
  readonly name: string
  /** Does the envelope sender survive? */
  readonly returnPath: 'ours' | 'theirs'
  readonly messageId: 'kept' | 'replaced'
  /** Header fields that it changes, in lower case: our signature leaves them out. */
  readonly unsignedHeaders: readonly string[]
  /** How later news of a message comes back. `none`: a status ends at `sent`. */
  readonly reports: 'dsn' | 'webhook' | 'none'
  /** May one submission have several recipients? */
  readonly multipleRecipients: boolean
  /** Does it take addresses beyond ASCII (RFC 6531)? false as long as no connection has shown it. */
  readonly smtputf8: boolean
  /** How many submissions it takes at once. */
  readonly maxConcurrentSubmissions: number
}

/** A record that the provider wants published for a domain, by its full name without a final dot. */
export interface IdentityRecord {
  readonly purpose: 'dkim' | 'return_path'
  readonly type: 'TXT' | 'CNAME' | 'MX'
  readonly name: string
  readonly value: string
  readonly priority: number | null
  /** Does the provider take no mail of the domain without it? */
  readonly required: boolean
}

/** The provider could not be asked, or did not do it; the message says why, for a person. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
}

/** The domains that a provider knows, where it takes the mail of no others. */
export interface ProviderIdentities {
  /** The provider's name, for a person. */
  readonly name: string
  /** Where it knows them, in at most 64 characters of ASCII: what was enrolled in another place is not known there. */
  readonly location: string
  /** Makes a domain known, and says what is to be published for it. Again changes nothing. @throws ProviderError */
  enrol(domain: string): Promise<readonly IdentityRecord[]>
  /** Does the provider take mail of the domain by now? @throws ProviderError */
  check(domain: string): Promise<boolean>
}

/** Delivers outbound mail. */
export interface Provider {
  readonly traits: ProviderTraits
  /** Absent where it knows no domains. */
  readonly identities?: ProviderIdentities
  /** Hands a message over. Never throws for what the provider does: one outcome for each recipient, in their order. */
  submit(submission: Submission): Promise<readonly SubmissionOutcome[]>
  /** Can it be reached now, without sending anything? null: yes; else why not. */
  checkHealth(): Promise<string | null>
  close(): Promise<void>
}
