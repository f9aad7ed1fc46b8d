import { type Instant, plusMs } from '../base/clock.ts'
import { type Folder, type ScanStatus, toJson } from '../base/database/schema.ts'
import { type Id, newId } from '../base/ids.ts'
import type { Address } from '../mail/address.ts'
import { clip } from '../mail/preview.ts'
import type { Verdicts } from '../ports/authenticator/port.ts'
import type { Scan } from '../ports/scanner/port.ts'
import type { Joined } from '../sending/threads/threads.ts'
import type { Filing, FolderReason } from './decide.ts'
import type { Incoming, Recipient } from './incoming.ts'
import type { Outline } from './parse.ts'
import type { ScanOutcome } from './scan.ts'
import type { Bytes } from './store.ts'
import type { NewAttachment, NewMessage } from './table.ts'

/** A message about which everything is known and decided, its bytes stored. */
export interface Fileable {
  readonly mail: Incoming
  readonly verdicts: Verdicts
  readonly scan: ScanOutcome
  readonly outline: Outline
  readonly filing: Filing
  readonly bytes: Bytes
}

/** A message with what makes it the same message again. */
export interface Item extends Fileable {
  /** The mailboxes it is for, each once, in the order of its recipients. */
  readonly mailboxIds: readonly Id<'mbx'>[]
  /** SHA-256 of the reverse-path and of the bytes. */
  readonly sameness: Buffer
}

/** A message for one mailbox. */
export interface Delivery {
  readonly what: Item
  readonly recipient: Recipient & { readonly mailboxId: Id<'mbx'> }
  readonly id: Id<'msg'>
}

const rescanFirstMs = 60_000
/** The folders in which messages do not stay for ever. */
const hasItsTime: ReadonlySet<Folder> = new Set(['spam', 'trash', 'quarantine'])

export function messageRow(
  { what, recipient, id }: Delivery,
  given: Joined & { readonly blobId: Id<'blb'> },
): NewMessage {
  const { mail, verdicts, scan, outline, filing } = what
  const [from] = outline.from
  return {
    id,
    organization_id: recipient.organizationId,
    brand_id: recipient.brandId,
    mailbox_id: recipient.mailboxId,
    folder: filing.folder,
    folder_since: hasItsTime.has(filing.folder) ? mail.receivedAt : null,
    folder_reason: reasonOf(what),
    starred: 0,
    is_read: 0,
    received_at: mail.receivedAt,
    size: mail.content.size,
    blob_id: given.blobId,
    sameness: what.sameness,
    mail_from: clip(mail.mailFrom, 320),
    rcpt_to: clip(recipient.address, 320),
    remote_ip: mail.remoteIp.slice(0, 45),
    helo: clip(mail.helo, 255),
    tls: mail.tls && clip(mail.tls, 64),
    smtputf8: mail.smtputf8 ? 1 : 0,
    message_id: outline.messageId && clip(outline.messageId, 998),
    thread_id: given.threadId,
    in_reply_to: outline.inReplyTo && clip(outline.inReplyTo, 998),
    in_reply_to_email_id: isReply(what) ? given.answersEmailId : null,
    is_reply: isReply(what) ? 1 : 0,
    from_address: clip(from?.address ?? '', 320),
    from_name: clip(from?.name ?? '', 256),
    to_addresses: toJson(someOf(outline.to)),
    subject: outline.subject,
    preview: outline.preview,
    attachment_count: outline.attachments.length,
    verdicts: toJson(verdicts),
    spf: verdicts.spf.result,
    dkim: verdicts.dkim.result,
    dmarc: verdicts.dmarc.result,
    ...scanColumns(scan),
    rescan_at: filing.releaseFolder ? firstRescan(mail.receivedAt) : null,
    release_folder: filing.releaseFolder,
  }
}

/** Why it is where it is; of what is in the inbox for no other reason, what it is where no person wrote it. */
function reasonOf({ filing, outline }: Item): FolderReason {
  return filing.reason === 'accepted' ? acceptedAs(outline) : filing.reason
}

/** Why what was accepted is where it is. */
export function acceptedAs({ report, isAutomaticReply }: Pick<Outline, 'report' | 'isAutomaticReply'>): FolderReason {
  if (report && report.kind !== 'none' && report.kind !== 'auto-reply') return 'report'
  return isAutomaticReply ? 'auto_reply' : 'accepted'
}

/** A report and what a program sent by itself answer nothing, whatever they refer to (RFC 3834 §2, RFC 5321 §4.5.5). */
export function isReply({ mail, outline }: Item): boolean {
  const isReport = outline.report !== null && outline.report.kind !== 'none'
  return mail.mailFrom !== '' && !outline.isAutomatic && !isReport
}

function firstRescan(receivedAt: Instant): Instant {
  return plusMs(receivedAt, rescanFirstMs)
}

const maxAddresses = 100

/** Those that a list shows; all of them are in the message. A TEXT column holds 64 KiB. */
function someOf(addresses: readonly Address[]): readonly Address[] {
  return addresses
    .slice(0, maxAddresses)
    .map(({ address, name }) => ({ address: clip(address, 320), name: clip(name, 64) }))
}

export function attachmentRows({ what: { outline, scan }, recipient, id }: Delivery): readonly NewAttachment[] {
  return outline.attachments.map((attachment, position) => ({
    id: newId('att'),
    organization_id: recipient.organizationId,
    message_id: id,
    position,
    filename: attachment.filename,
    content_type: attachment.contentType,
    size: attachment.size,
    content_id: attachment.contentId,
    disposition: attachment.disposition,
    sha256: attachment.sha256,
    ...scanColumns(scan.kind === 'infected' ? (scan.attachments[position] ?? unknown) : scan),
  }))
}

const unknown: Scan = { kind: 'unscanned', why: 'it was not scanned by itself' }

/** How a scan is kept. */
export function scanColumns(scan: Scan): { readonly scan: ScanStatus; readonly scan_signature: string | null } {
  switch (scan.kind) {
    case 'clean':
      return { scan: 'clean', scan_signature: null }
    case 'infected':
      return { scan: 'infected', scan_signature: clip(scan.signature, 255) }
    case 'unscanned':
      return { scan: 'error', scan_signature: null }
    default:
      return scan satisfies never
  }
}
