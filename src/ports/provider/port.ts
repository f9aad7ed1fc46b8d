import type { Id } from '../../base/ids.ts'

/** The step of the SMTP conversation at which a reply came or the connection ended. HTTP adapters name the nearest one. */
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

/** The provider's reply: the evidence for an outcome, shown with the email's events. */
export interface ProviderReply {
  readonly phase: SubmissionPhase
  /** The SMTP reply code; null when the connection ended without one. */
  readonly code: number | null
  /** The enhanced status code of the reply (RFC 3463); null when it has none. */
  readonly enhancedCode: string | null
  /** The reply's text on one line; without a reply, what happened instead. */
  readonly text: string
}

/** What became of one recipient. */
export type SubmissionOutcome =
  /** The provider has accepted the message (its 250 after the final dot). That means sent, not delivered. */
  | {
      readonly kind: 'accepted'
      readonly reply: ProviderReply
      /** The provider's own id of the message, if its reply has one. */
      readonly providerMessageId: string | null
      /** The Message-ID that recipients see, without angle brackets, if it is not ours and already known. */
      readonly wireMessageId?: string | null
    }
  /**
   * A transient failure: the relay tries again. `ambiguous`: the provider may have accepted the message, because the
   * connection ended after the final dot and before its reply.
   */
  | { readonly kind: 'deferred'; readonly reply: ProviderReply; readonly ambiguous: boolean }
  /** A permanent failure, because of this recipient (phase `rcpt`) or this message. */
  | { readonly kind: 'failed'; readonly reply: ProviderReply }
  /**
   * The route failed, whatever the message: connection, TLS, credentials, the account, or the sender's domain. It costs the
   * message no attempt and opens the relay's circuit breaker. When in doubt between this and `failed`, choose this: no mail
   * may be lost to a suspended account.
   */
  | { readonly kind: 'route-error'; readonly reply: ProviderReply }
  /**
   * {@link Submission.withdraw} fired, or {@link Submission.mayBeAccepted} said no, while the provider could not have accepted
   * the message yet: it has not.
   */
  | { readonly kind: 'withdrawn'; readonly reply: ProviderReply }

/** The reply of a submission that was withdrawn in this phase. */
export function withdrawnOutcome(phase: SubmissionPhase): SubmissionOutcome {
  const text = 'Withdrawn: this process is not to submit it now.'
  return { kind: 'withdrawn', reply: { phase, code: null, enhancedCode: null, text } }
}

/** One message to hand over. */
export interface Submission {
  /** Goes along with the message where the provider allows that, so that provider events name the email. */
  readonly emailId: Id<'eml'>
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  /** At least one canonical address with the domain as A-labels; several only when `traits.multipleRecipients`. */
  readonly recipients: readonly string[]
  /** The whole message: CRLF line ends, 7 bit, signed. */
  readonly message: Buffer
  /** When this fires the adapter gives up, and reports how far it came. */
  readonly signal: AbortSignal
  /**
   * When this fires before the message is transmitted (over SMTP, before the reply to DATA) the adapter gives up at once, and
   * the outcome is `withdrawn`; later it changes nothing. Absent: it is not withdrawn. An adapter whose submissions are short
   * need not look at it.
   */
  readonly withdraw?: AbortSignal
  /**
   * May the provider still accept the message? To be asked as late as possible before it could: over SMTP, before the final
   * dot. After no, nothing is submitted, and the outcome is `withdrawn`.
   */
  readonly mayBeAccepted: () => boolean
}

/** What a provider changes in the messages that it takes, and what it reports about them afterwards. */
export interface ProviderTraits {
  readonly name: string
  /** Whose reverse-path the recipient's server sees: the one that we submit, or the provider's own. */
  readonly returnPath: 'ours' | 'theirs'
  /** Does the Message-ID that we submit reach the recipient? */
  readonly messageId: 'kept' | 'replaced'
  /** Header fields that the provider changes, in lower case: our DKIM signature leaves them out. */
  readonly unsignedHeaders: readonly string[]
  /** How delivery, bounce and complaint reports come back. `none`: an email's status ends at `sent`. */
  readonly reports: 'dsn' | 'webhook' | 'none'
  /** May one submission have several recipients? */
  readonly multipleRecipients: boolean
  /** Are addresses beyond ASCII accepted (RFC 6531)? false until a connection has shown it. */
  readonly smtputf8: boolean
  /** More submissions than this are never in flight at once. */
  readonly maxConcurrentSubmissions: number
}

/** A record that the provider wants published for a domain. */
export interface IdentityRecord {
  readonly purpose: 'dkim' | 'return_path'
  readonly type: 'TXT' | 'CNAME' | 'MX'
  /** The full name, without the final dot. */
  readonly name: string
  readonly value: string
  /** Of MX only, else null. */
  readonly priority: number | null
  /** Does the provider accept no mail of the domain without it? */
  readonly required: boolean
}

/** The provider refused, or could not be reached. The message gives the reason, for API callers and operators. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
}

/** The sending domains of a provider that accepts mail from registered domains only. */
export interface ProviderIdentities {
  /** The provider's name, for people. */
  readonly name: string
  /**
   * The account or region in which domains are registered, at most 64 characters of ASCII. When it changes, every domain
   * is registered again.
   */
  readonly location: string
  /**
   * Registers a domain and returns the records to publish for it. Idempotent; what an operator has set up differently at
   * the provider stays. @throws ProviderError
   */
  enrol(domain: string): Promise<readonly IdentityRecord[]>
  /** Does the provider accept mail of the domain now? @throws ProviderError */
  check(domain: string): Promise<boolean>
}

/**
 * Hands outbound mail over for delivery.
 *
 * An adapter
 * - claims in `traits` nothing that it does not know: where a relay may change something, it says that it does;
 * - submits the message byte for byte, at most with header fields of its own in front of it;
 * - reports the reply of each recipient, and tells failures of the route from failures of the message;
 * - never retries a submission that the provider may have accepted: the relay decides about that.
 *
 * test/ports/provider/contract.ts tests every adapter.
 */
export interface Provider {
  readonly traits: ProviderTraits
  /** Absent when the provider registers no domains. */
  readonly identities?: ProviderIdentities
  /** Never rejects for what the provider does. Returns one outcome for each recipient, in their order. */
  submit(submission: Submission): Promise<readonly SubmissionOutcome[]>
  /** Could a message be submitted now? Sends none. null: yes; else the reason, for an operator. */
  checkHealth(): Promise<string | null>
  /** Closes the connections that are idle, and the others when their submissions end. */
  close(): Promise<void>
}
