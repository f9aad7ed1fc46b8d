import type { Instant } from '../base/clock.ts'
import type { Id } from '../base/ids.ts'
import type { MessageSource } from '../mail/message-source.ts'
import type { ReturnPathTarget } from '../sending/reports/return-path.ts'

/** A recipient that RCPT accepted. */
export interface InboundRecipient {
  /** As given, with the domain as a lower-case A-label. */
  readonly address: string
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'>
  readonly domainId: Id<'dom'>
  /** null: an address of ours without a mailbox, such as a bounce address. */
  readonly mailboxId: Id<'mbx'> | null
  /** The email and recipient that reports to this bounce address are about; absent: it is none. */
  readonly bounceOf?: ReturnPathTarget
  /** Does its organization allow or block any sender? Absent: it does not. */
  readonly hasListings?: boolean
}

/** A mail transaction (RFC 5321 §3.3) whose DATA is complete. */
export interface IncomingMessage<Recipient = InboundRecipient> {
  /** The transaction's id, as in the reply to DATA and in Received. */
  readonly id: string
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  /** At least one; no address twice. */
  readonly recipients: readonly Recipient[]
  /** The bytes as they came, without dot-stuffing. A file is deleted once `receive` has settled. */
  readonly content: MessageSource
  readonly remoteIp: string
  /** The client's name in HELO or EHLO, lower case: any text without control characters. */
  readonly helo: string
  /** Version and cipher, `TLSv1.3 TLS_AES_256_GCM_SHA384`; null: without TLS. */
  readonly tls: string | null
  /** Had MAIL the parameter SMTPUTF8 (RFC 6531)? */
  readonly smtputf8: boolean
  /** When the final dot came. */
  readonly receivedAt: Instant
  /** Fires when the client has disconnected or the reply would be too late: then nothing may be filed. */
  readonly signal: AbortSignal
}

/** What the SMTP server calls: findRecipient in recipient.ts and receive in receive.ts, with what they depend on. */
export interface InboundPipeline {
  /**
   * The recipient for the forward-path `address`: as the client wrote it, or a bare `postmaster`.
   * @throws SmtpRefusal
   */
  findRecipient(address: string): Promise<InboundRecipient>
  /**
   * Files the message; resolves after the commit, with the id for the reply.
   * @throws SmtpRefusal
   */
  receive(mail: IncomingMessage): Promise<{ readonly id: string }>
}
