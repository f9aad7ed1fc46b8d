import { createHash } from 'node:crypto'
import { batched } from '../base/batch.ts'
import { type Instant, plusMs } from '../base/clock.ts'
import { type Db, inTransaction, isDatabaseTrouble } from '../base/database.ts'
import { type Id, newId } from '../base/ids.ts'
import { type ScanStatus, toJson } from '../base/schema.ts'
import type { Address } from '../mail/address.ts'
import { clip } from '../mail/preview.ts'
import type { Verdicts } from '../ports/authenticator/port.ts'
import type { StoredBlob } from '../ports/blobs/port.ts'
import type { Scan } from '../ports/scanner/port.ts'
import { joinThreads } from '../sending/threads.ts'
import type { Filing } from './decide.ts'
import type { Incoming, Recipient } from './incoming.ts'
import type { Outline } from './parse.ts'
import { refuseMail } from './refusal.ts'
import type { ScanOutcome } from './scan.ts'
import {
  insertAttachments,
  insertMessages,
  lockMailboxes,
  type NewAttachment,
  type NewMessage,
  selectSame,
} from './table.ts'

/** A message about which everything is known and decided, its bytes stored. */
export interface Fileable {
  readonly mail: Incoming
  readonly verdicts: Verdicts
  readonly scan: ScanOutcome
  readonly outline: Outline
  readonly filing: Filing
  readonly blobs: ReadonlyMap<Id<'org'>, StoredBlob>
}

interface Item extends Fileable {
  /** The mailboxes it is for, each once, in the order of its recipients. */
  readonly mailboxIds: readonly Id<'mbx'>[]
  /** SHA-256 of the reverse-path and of the bytes. */
  readonly sameness: Buffer
}

function itemOf(what: Fileable): Item {
  const [blob] = what.blobs.values()
  if (!blob) throw new Error('a message without recipients is to be filed')
  return {
    ...what,
    mailboxIds: [...new Set(what.mail.recipients.flatMap(each => each.mailboxId ?? []))],
    sameness: createHash('sha256').update(`${what.mail.mailFrom}\0`).update(blob.sha256).digest(),
  }
}

type Outcome =
  | { readonly kind: 'filed'; readonly id: string }
  | { readonly kind: 'mailbox_gone' }
  | { readonly kind: 'aborted' }

/** The same bytes from the same reverse-path are one message for this long. */
const samenessMs = 3 * 24 * 3600 * 1000
const rescanFirstMs = 60_000

/**
 * Files messages, many in one short transaction: a row for each mailbox that a message is for, its attachments, and the
 * thread it joins. What a mailbox has already is not filed again; its id is the answer then. Resolves after the commit.
 * @throws SmtpRefusal mailbox_gone, answer_late
 */
export function filer(db: Db): (what: Fileable) => Promise<{ readonly id: string }> {
  const fileOne = batched<Item, Outcome>({ maxItems: 32, maxUnderWay: 2 }, all => fileAll(db, all))
  return async what => {
    const item = itemOf(what)
    const outcome = await fileOne(item).catch((error: unknown) => {
      if (error instanceof Interrupted) return { kind: 'aborted' } as const
      // Whether the commit took place may be unknown; if it did, the second time finds the message filed.
      if (isDatabaseTrouble(error)) return fileOne(item)
      throw error
    })
    switch (outcome.kind) {
      case 'filed':
        return { id: outcome.id }
      case 'mailbox_gone':
        throw refuseMail('mailbox_gone')
      case 'aborted':
        throw refuseMail('answer_late')
      default:
        return outcome satisfies never
    }
  }
}

/** A client went away while its message was being filed with others: all of them again, without it. */
class Interrupted extends Error {}

function fileAll(db: Db, all: readonly Item[]): Promise<readonly Outcome[]> {
  return inTransaction(db, async tx => {
    const waiting = all.filter(({ mail }) => !mail.signal.aborted)
    const there = await lockMailboxes(tx, [...new Set(waiting.flatMap(each => each.mailboxIds))])
    const fileable = waiting.filter(each => each.mailboxIds.every(id => there.has(id)))
    const known = await findSame(tx, fileable)
    await insertDeliveries(
      tx,
      fileable.flatMap(each => deliveriesOf(each, known)),
    )
    if (waiting.some(({ mail }) => mail.signal.aborted)) throw new Interrupted()
    return all.map(each => {
      if (!waiting.includes(each)) return { kind: 'aborted' }
      if (!fileable.includes(each)) return { kind: 'mailbox_gone' }
      const [mailboxId] = each.mailboxIds
      return { kind: 'filed', id: (mailboxId && known.get(placeOf(each, mailboxId))) ?? each.mail.id }
    })
  })
}

/** Where a message is filed at most once. */
function placeOf({ sameness }: Pick<Item, 'sameness'>, mailboxId: Id<'mbx'>): string {
  return mailboxId + sameness.toString('base64')
}

async function findSame(db: Db, items: readonly Item[]): Promise<Map<string, Id<'msg'>>> {
  const [first] = items
  const wanted = items.flatMap(({ mailboxIds, sameness }) => mailboxIds.map(mailboxId => ({ mailboxId, sameness })))
  if (!first || wanted.length === 0) return new Map()
  const rows = await selectSame(db, wanted, plusMs(first.mail.receivedAt, -samenessMs))
  return new Map(rows.map(row => [placeOf(row, row.mailbox_id), row.id]))
}

interface Delivery {
  readonly what: Item
  readonly recipient: Recipient & { readonly mailboxId: Id<'mbx'> }
  readonly id: Id<'msg'>
}

/** What is to be filed: for each mailbox the first of its recipients, unless it has the message. Adds them to `known`. */
function deliveriesOf(what: Item, known: Map<string, Id<'msg'>>): readonly Delivery[] {
  const deliveries: Delivery[] = []
  for (const recipient of what.mail.recipients) {
    const { mailboxId } = recipient
    if (mailboxId === null || known.has(placeOf(what, mailboxId))) continue
    const id = newId('msg')
    known.set(placeOf(what, mailboxId), id)
    deliveries.push({ what, recipient: { ...recipient, mailboxId }, id })
  }
  return deliveries
}

async function insertDeliveries(db: Db, deliveries: readonly Delivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const threads = await joinThreads(
    db,
    deliveries.map(({ what: { outline }, recipient, id }) => ({
      brandId: recipient.brandId,
      itemId: id,
      messageId: outline.messageId,
      references: referencesOf(outline),
      emailId: null,
    })),
  )
  await insertMessages(
    db,
    deliveries.map((each, i) => messageRow(each, threads[i] ?? { threadId: each.id, answersEmailId: null })),
  )
  await insertAttachments(db, deliveries.flatMap(attachmentRows))
}

/** Nearest first: In-Reply-To, then References from its end. */
function referencesOf({ inReplyTo, references }: Outline): readonly string[] {
  return [...new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()])]
}

function messageRow(
  { what, recipient, id }: Delivery,
  thread: { readonly threadId: string; readonly answersEmailId: Id<'eml'> | null },
): NewMessage {
  const { mail, verdicts, scan, outline, filing, blobs } = what
  const blob = blobs.get(recipient.organizationId)
  if (!blob) throw new Error(`the bytes for ${recipient.organizationId} were not stored`)
  const [from] = outline.from
  return {
    id,
    organization_id: recipient.organizationId,
    brand_id: recipient.brandId,
    mailbox_id: recipient.mailboxId,
    folder: filing.folder,
    folder_reason: filing.reason,
    starred: 0,
    is_read: 0,
    received_at: mail.receivedAt,
    size: mail.content.size,
    blob_id: blob.id,
    sameness: what.sameness,
    mail_from: clip(mail.mailFrom, 320),
    rcpt_to: clip(recipient.address, 320),
    remote_ip: mail.remoteIp.slice(0, 45),
    helo: clip(mail.helo, 255),
    tls: mail.tls && clip(mail.tls, 64),
    smtputf8: mail.smtputf8 ? 1 : 0,
    message_id: outline.messageId && clip(outline.messageId, 998),
    thread_id: thread.threadId,
    in_reply_to: outline.inReplyTo && clip(outline.inReplyTo, 998),
    in_reply_to_email_id: thread.answersEmailId,
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

function attachmentRows({ what: { outline, scan }, recipient, id }: Delivery): readonly NewAttachment[] {
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
