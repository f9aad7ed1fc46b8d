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
  /** null: an address of ours without a mailbox, such as one that bounces come to. */
  readonly mailboxId: Id<'mbx'> | null
  /** What reports to this address are about; undefined: it is no bounce address. */
  readonly bounceOf?: ReturnPathTarget
}

/** One transaction of an SMTP session, once DATA is complete. */
export interface IncomingMessage {
  /** The transaction's id, which the answer and Received name. */
  readonly id: string
  /** The reverse-path; empty: the null reverse-path. */
  readonly mailFrom: string
  /** At least one; no address twice. */
  readonly recipients: readonly InboundRecipient[]
  /** The bytes after dot-unstuffing, otherwise as they came. A file is gone once `receive` has settled. */
  readonly content: MessageSource
  readonly remoteIp: string
  /** What the client called itself in HELO or EHLO, lower case: any text without control characters. */
  readonly helo: string
  /** Version and cipher, `TLSv1.3 TLS_AES_256_GCM_SHA384`; null: in clear. */
  readonly tls: string | null
  /** Did MAIL say SMTPUTF8 (RFC 6531)? */
  readonly smtputf8: boolean
  /** When the final dot came. */
  readonly receivedAt: Instant
  /** Fires when the client has gone or the answer is late: file nothing then. */
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
   * Files the message; resolves after the commit, with the id for the answer.
   * @throws SmtpRefusal
   */
  receive(mail: IncomingMessage): Promise<{ readonly id: string }>
}
