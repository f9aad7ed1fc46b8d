import { type Instant, plusMs } from '../base/clock.ts'
import { type Folder, type ScanStatus, toJson } from '../base/database/schema.ts'
import { type Id, newId } from '../base/ids.ts'
import type { EventMessageRow } from '../inbox/messages/message-event.ts'
import type { Address } from '../mail/address.ts'
import { truncate } from '../mail/text.ts'
import type { Verdicts } from '../ports/authenticator/port.ts'
import type { ScanResult } from '../ports/scanner/port.ts'
import type { SpamFindings } from '../ports/spam-filter/port.ts'
import type { JoinedThread } from '../sending/threads/threads.ts'
import { type FolderDecision, type FolderReason, isReport } from './decide.ts'
import type { InboundRecipient, IncomingMessage } from './incoming-message.ts'
import type { FilingSummary } from './parse.ts'
import type { ScanOutcome } from './scan.ts'
import type { MessageBytes } from './store.ts'
import type { NewAttachment, NewMessage, SamenessKey } from './table.ts'

/** A message that is verified, scanned, parsed and decided on, with its bytes stored. */
export interface FileableMessage {
  readonly mail: IncomingMessage
  readonly verdicts: Verdicts
  readonly scan: ScanOutcome
  readonly summary: FilingSummary
  /** null: no spam filter checked it. */
  readonly spam: SpamFindings | null
  /** For each organization that has a recipient. */
  readonly decisions: ReadonlyMap<Id<'org'>, FolderDecision>
  readonly bytes: MessageBytes
}

/** A recipient with a mailbox, and the key by which the same message for it is found. */
export interface MailboxRecipient extends InboundRecipient, SamenessKey {
  readonly mailboxId: Id<'mbx'>
}

/** A message, and whom it is filed for. */
export interface FilingItem extends FileableMessage {
  /** SHA-256 of the bytes. */
  readonly digest: Buffer
  readonly mailboxRecipients: readonly MailboxRecipient[]
}

/** A message for one address of a mailbox. */
export interface MailboxDelivery {
  readonly item: FilingItem
  readonly recipient: MailboxRecipient
  readonly id: Id<'msg'>
}

const rescanFirstMs = 60_000
/** The folders from which retention deletes messages after a while. */
const expiringFolders: ReadonlySet<Folder> = new Set(['spam', 'trash', 'quarantine'])

export function messageRow(
  { item, recipient, id }: MailboxDelivery,
  stored: JoinedThread & { readonly blobId: Id<'blb'> },
): NewMessage & EventMessageRow {
  const { mail, verdicts, scan, summary, spam } = item
  const decision = decisionFor(item, recipient)
  const [from] = summary.from
  return {
    id,
    organization_id: recipient.organizationId,
    brand_id: recipient.brandId,
    mailbox_id: recipient.mailboxId,
    folder: decision.folder,
    folder_since: expiringFolders.has(decision.folder) ? mail.receivedAt : null,
    folder_reason: folderReason(decision, summary),
    starred: 0,
    is_read: 0,
    received_at: mail.receivedAt,
    size: mail.content.size,
    blob_id: stored.blobId,
    sameness: recipient.sameness,
    mail_from: truncate(mail.mailFrom, 320),
    rcpt_to: truncate(recipient.address, 320),
    remote_ip: mail.remoteIp.slice(0, 45),
    helo: truncate(mail.helo, 255),
    tls: mail.tls && truncate(mail.tls, 64),
    smtputf8: mail.smtputf8 ? 1 : 0,
    message_id: summary.messageId && truncate(summary.messageId, 998),
    thread_id: stored.threadId,
    in_reply_to: summary.inReplyTo && truncate(summary.inReplyTo, 998),
    in_reply_to_email_id: isReply(item) ? stored.inReplyToEmailId : null,
    is_reply: isReply(item) ? 1 : 0,
    from_address: truncate(from?.address ?? '', 320),
    from_name: truncate(from?.name ?? summary.fromText, 256),
    to_addresses: toJson(clipAddresses(summary.to)),
    subject: summary.subject,
    preview: summary.preview,
    attachment_count: summary.attachments.length,
    indexed: summary.words === null ? 0 : 1,
    verdicts: toJson(verdicts),
    spf: verdicts.spf.result,
    dkim: verdicts.dkim.result,
    dmarc: verdicts.dmarc.result,
    ...scanColumns(scan),
    rescan_at: decision.releaseFolder ? firstRescan(mail.receivedAt) : null,
    release_folder: decision.releaseFolder,
    release_reason: decision.releaseReason,
    spam: spam && toJson({ score: spam.score, required: spam.required, symbols: spam.symbols }),
  }
}

/** What the organization of a recipient decides about a message. */
export function decisionFor({ decisions }: FileableMessage, { organizationId }: InboundRecipient): FolderDecision {
  const decision = decisions.get(organizationId)
  if (!decision) throw new Error(`nothing was decided for ${organizationId}`)
  return decision
}

/** Why it is in its folder; for an accepted message, whether a program sent it. */
function folderReason(decision: FolderDecision, summary: FilingSummary): FolderReason {
  return decision.reason === 'accepted' ? acceptedReason(summary) : decision.reason
}

/** The reason for an accepted message, by whether a program sent it. */
export function acceptedReason(summary: Pick<FilingSummary, 'report' | 'isAutomaticReply'>): FolderReason {
  if (isReport(summary)) return 'report'
  return summary.isAutomaticReply ? 'auto_reply' : 'accepted'
}

/** Reports and automatic messages are no replies, whatever they refer to (RFC 3834 §2, RFC 5321 §4.5.5). */
export function isReply({ mail, summary }: FilingItem): boolean {
  const isReport = summary.report !== null && summary.report.kind !== 'none'
  return mail.mailFrom !== '' && !summary.isAutomatic && !isReport
}

function firstRescan(receivedAt: Instant): Instant {
  return plusMs(receivedAt, rescanFirstMs)
}

const maxAddresses = 100

/** The addresses that lists show; the message has all of them. A TEXT column holds 64 KiB. */
function clipAddresses(addresses: readonly Address[]): readonly Address[] {
  return addresses
    .slice(0, maxAddresses)
    .map(({ address, name }) => ({ address: truncate(address, 320), name: truncate(name, 64) }))
}

export function attachmentRows({ item: { summary, scan }, recipient, id }: MailboxDelivery): readonly NewAttachment[] {
  return summary.attachments.map((attachment, position) => ({
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
    ...scanColumns(scan.kind === 'infected' ? (scan.attachments[position] ?? notScanned) : scan),
  }))
}

const notScanned: ScanResult = { kind: 'unscanned', why: 'the attachment was not scanned by itself' }

/** The columns for a scan result. */
export function scanColumns(scan: ScanResult): { readonly scan: ScanStatus; readonly scan_signature: string | null } {
  switch (scan.kind) {
    case 'clean':
      return { scan: 'clean', scan_signature: null }
    case 'infected':
      return { scan: 'infected', scan_signature: truncate(scan.signature, 255) }
    case 'unscanned':
      return { scan: 'error', scan_signature: null }
    default:
      return scan satisfies never
  }
}
