import { createHash } from 'node:crypto'
import { dayMs, plusMs } from '../base/clock.ts'
import { batched } from '../base/concurrency/batch.ts'
import { type Db, inTransaction, isDatabaseUnavailable, LockLostError } from '../base/database/database.ts'
import { type Id, newId } from '../base/ids.ts'
import { appendEvents, type NewEvent } from '../events/append-events.ts'
import { type EventMessageRow, messageEvent } from '../inbox/messages/message-event.ts'
import type { ReplyText } from '../inbox/messages/reply-text.ts'
import { wordsOf } from '../inbox/search/searchable-text.ts'
import { insertSearchTexts } from '../inbox/search/table.ts'
import type { BlobStore } from '../ports/blobs/port.ts'
import type { DeliveryEvent } from '../sending/events/delivery-event.ts'
import { recordEvents } from '../sending/events/events.ts'
import { type JoinedThread, joinThreads } from '../sending/threads/threads.ts'
import {
  attachmentRows,
  type FileableMessage,
  type FilingItem,
  isReply,
  type MailboxDelivery,
  messageRow,
} from './message-row.ts'
import type { FilingSummary } from './parse.ts'
import { refuseMail } from './smtp-refusal.ts'
import { digestOf } from './store.ts'
import {
  insertAttachments,
  insertMessages,
  lockMailboxes,
  lockMessage,
  type MailboxLock,
  type SamenessKey,
  selectFiledMessages,
} from './table.ts'

type FilingOutcome =
  | { readonly kind: 'filed'; readonly id: string }
  | { readonly kind: 'mailbox_gone' }
  | { readonly kind: 'aborted' }

/** For so long a message that comes again is the one that was filed: senders retry for days (RFC 5321 §4.5.4.1). */
const duplicateWindowMs = 3 * dayMs

const maxBatch = 32
/** How long a batch waits for more messages while many come: one commit for several costs less than one for each. */
const batchWaitMs = 2

export interface FilerDeps {
  readonly db: Db
  readonly blobs: BlobStore
}

/**
 * Files messages; those that come at the same time share one short transaction, and while it is committed the next begins. One for
 * all that share a pool.
 */
export class MessageFiler {
  readonly #fileInBatch: (item: FilingItem) => Promise<FilingOutcome>

  constructor({ db, blobs }: FilerDeps) {
    const limits = { maxItems: maxBatch, maxInFlight: 1, gatherMs: batchWaitMs }
    this.#fileInBatch = batched<FilingItem, FilingOutcome>(limits, (items, proceed) =>
      fileBatch(db, blobs, items, proceed),
    )
  }

  /**
   * Files a message: a row for each address of a mailbox that it is for, its attachments, and the thread it joins. What has
   * been filed already ({@link samenessOf}) is not filed again; the id is that of the first address's row. Resolves after the
   * commit.
   * @throws SmtpRefusal mailbox_gone, answer_late
   */
  async file(message: FileableMessage): Promise<{ readonly id: string }> {
    const item = toFilingItem(message)
    const outcome = await this.#fileInBatch(item).catch((error: unknown) => {
      if (error instanceof FilingInterruptedError) return { kind: 'aborted' } as const
      // Whether the commit took place may still be unknown; if it did, the second time finds what this transaction filed.
      if (isDatabaseUnavailable(error)) return this.#fileInBatch(item)
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

function toFilingItem(message: FileableMessage): FilingItem {
  const { mail, bytes } = message
  const digest = digestOf(bytes)
  const recipients = mail.recipients.flatMap(recipient => {
    const { mailboxId } = recipient
    return mailboxId === null
      ? []
      : { ...recipient, mailboxId, sameness: samenessOf(message, digest, recipient.address) }
  })
  return { ...message, digest, mailboxRecipients: recipients }
}

/**
 * What makes a message for an address the same as one that was filed: its bytes, the reverse-path and the address. That is
 * enough only for a message with a Message-ID and a Date (RFC 5322 §3.6): a device sends each of its alarms in the same
 * bytes, and they are as many messages. Any other is the same only within its own SMTP transaction, so that it is found
 * where the outcome of a commit is unknown.
 */
function samenessOf({ mail, summary }: FileableMessage, digest: Buffer, address: string): Buffer {
  const isIdentified = summary.messageId !== null && summary.hasDate
  const parts = [isIdentified ? '' : mail.id, mail.mailFrom, address.toLowerCase()]
  return createHash('sha256')
    .update(`${parts.join('\0')}\0`)
    .update(digest)
    .digest()
}

/** A client disconnected while its message was being filed in a batch: each of the others is filed again alone. */
class FilingInterruptedError extends Error {}

function fileBatch(
  db: Db,
  blobs: BlobStore,
  items: readonly FilingItem[],
  beforeCommit: () => void,
): Promise<readonly FilingOutcome[]> {
  let inserted: readonly MailboxDelivery[] = []
  const file = async (tx: Db): Promise<readonly FilingOutcome[]> => {
    const waiting = items.filter(({ mail }) => !mail.signal.aborted)
    const lock = lockFor(waiting)
    const { mailboxes, filed } = await lockAndFindFiled(tx, waiting, lock)
    const fileable = waiting.filter(item => item.mailboxRecipients.every(({ mailboxId }) => mailboxes.has(mailboxId)))
    inserted = fileable.flatMap(item => deliveriesOf(item, filed))
    await insertDeliveries(tx, blobs, inserted, lock)
    if (waiting.some(({ mail }) => mail.signal.aborted)) throw new FilingInterruptedError()
    beforeCommit()
    return items.map(item => {
      if (!waiting.includes(item)) return { kind: 'aborted' }
      if (!fileable.includes(item)) return { kind: 'mailbox_gone' }
      const [first] = item.mailboxRecipients
      return { kind: 'filed', id: (first && filed.get(duplicateKey(first))) ?? item.mail.id }
    })
  }
  // Its rows exist all or none.
  return inTransaction(db, file, async lookup => {
    const [delivery] = inserted
    return delivery === undefined || (await lockMessage(lookup, delivery.id))
  })
}

/** For each key a message is filed once. */
function duplicateKey({ mailboxId, sameness }: SamenessKey): string {
  return mailboxId + sameness.toString('base64')
}

/**
 * Transactions file into the same mailbox at once, those of several processes too. That two of them file the same message shows
 * by its bytes, which are new to only one of them ({@link requireNotFiled}). Large bytes are stored before, and new to neither.
 */
function lockFor(items: readonly FilingItem[]): MailboxLock {
  return items.some(item => item.bytes.kind === 'stored') ? 'exclusive' : 'shared'
}

/** Locks the mailboxes that exist, so that they stay until the commit, and finds which of these messages each has already. */
async function lockAndFindFiled(
  db: Db,
  items: readonly Pick<FilingItem, 'mail' | 'mailboxRecipients'>[],
  lock: MailboxLock,
) {
  const recipients = items.flatMap(item => item.mailboxRecipients)
  const [earliest] = items.map(item => item.mail.receivedAt).sort()
  const [mailboxes, rows] = await Promise.all([
    lockMailboxes(db, [...new Set(recipients.map(recipient => recipient.mailboxId))], lock),
    // Runs after the lock: what another transaction filed under an exclusive one is committed by then.
    earliest ? selectFiledMessages(db, recipients, plusMs(earliest, -duplicateWindowMs)) : [],
  ])
  const filed = new Map(rows.map(row => [duplicateKey({ mailboxId: row.mailbox_id, sameness: row.sameness }), row.id]))
  return { mailboxes: new Set(mailboxes), filed }
}

/** The rows to insert: for each address of a mailbox, unless the mailbox has the message for it. Adds them to `filed`. */
function deliveriesOf(item: FilingItem, filed: Map<string, Id<'msg'>>): readonly MailboxDelivery[] {
  const deliveries: MailboxDelivery[] = []
  for (const recipient of item.mailboxRecipients) {
    if (filed.has(duplicateKey(recipient))) continue
    const id = newId('msg')
    filed.set(duplicateKey(recipient), id)
    deliveries.push({ item, recipient, id })
  }
  return deliveries
}

async function insertDeliveries(
  db: Db,
  blobs: BlobStore,
  deliveries: readonly MailboxDelivery[],
  lock: MailboxLock,
): Promise<void> {
  if (deliveries.length === 0) return
  const [blobOf, threads] = await Promise.all([
    blobsOf(db, blobs, deliveries),
    joinThreads(
      db,
      deliveries.map(({ item: { summary }, recipient, id }) => ({
        brandId: recipient.brandId,
        itemId: id,
        messageId: summary.messageId,
        references: referencesOf(summary),
        emailId: null,
      })),
    ),
  ])
  if (lock === 'shared')
    await requireNotFiled(
      db,
      deliveries.filter(delivery => !blobOf(delivery).isNew),
    )
  const rows = deliveries.map((delivery, i) =>
    messageRow(delivery, {
      ...(threads[i] ?? { threadId: delivery.id, inReplyToEmailId: null }),
      blobId: blobOf(delivery).id,
    }),
  )
  await Promise.all([
    insertMessages(db, rows),
    insertAttachments(db, deliveries.flatMap(attachmentRows)),
    insertSearchTexts(
      db,
      rows.flatMap((row, i) => {
        const ofContent = deliveries[i]?.item.summary.words ?? null
        const { id: message_id, organization_id, brand_id } = row
        return ofContent === null ? [] : [{ message_id, organization_id, brand_id, words: wordsOf(row, ofContent) }]
      }),
    ),
    appendEvents(
      db,
      rows.map((row, i) => filedEvent(row, deliveries[i]?.item.summary.reply)),
    ),
  ])
  await recordReplies(db, deliveries, threads)
}

/**
 * For bytes that were there already: with them another transaction may have filed the same message since this one looked.
 * @throws LockLostError then: tried again, this transaction finds it
 */
async function requireNotFiled(db: Db, deliveries: readonly MailboxDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const items = deliveries.map(({ item: { mail }, recipient }) => ({ mail, mailboxRecipients: [recipient] }))
  const { filed } = await lockAndFindFiled(db, items, 'exclusive')
  if (filed.size > 0) throw new LockLostError('another transaction has filed the same message')
}

/** That a message came, or was put into quarantine. */
function filedEvent(row: EventMessageRow, reply: ReplyText | null | undefined): NewEvent {
  return messageEvent(row.folder === 'quarantine' ? 'message.quarantined' : 'message.received', row, reply)
}

/** Finds the blob of each delivery; small bytes are stored here, once for each organization. */
async function blobsOf(
  db: Db,
  blobs: BlobStore,
  deliveries: readonly MailboxDelivery[],
): Promise<(delivery: MailboxDelivery) => { readonly id: Id<'blb'>; readonly isNew: boolean }> {
  const keyOf = ({ item, recipient }: MailboxDelivery) => recipient.organizationId + item.digest.toString('base64')
  const small = new Map(
    deliveries.flatMap(delivery => {
      const { bytes, digest } = delivery.item
      const { organizationId } = delivery.recipient
      return bytes.kind === 'small'
        ? [[keyOf(delivery), { organizationId, bytes: bytes.bytes, sha256: digest }] as const]
        : []
    }),
  )
  const stored = small.size > 0 ? await blobs.storeWithin(db, [...small.values()]) : []
  const storedHere = new Map(Array.from(small.keys(), (key, i) => [key, stored[i]]))
  return delivery => {
    const { bytes } = delivery.item
    const { organizationId } = delivery.recipient
    const before = bytes.kind === 'stored' ? bytes.blobs.get(organizationId) : undefined
    const blob = before ? { id: before.id, isNew: false } : storedHere.get(keyOf(delivery))
    if (!blob) throw new Error(`the bytes for ${organizationId} were not stored`)
    return blob
  }
}

/** Records `replied` events for the emails that these messages reply to. */
async function recordReplies(
  db: Db,
  deliveries: readonly MailboxDelivery[],
  threads: readonly JoinedThread[],
): Promise<void> {
  const replies = deliveries.flatMap(({ item, id }, i): DeliveryEvent[] => {
    const emailId = threads[i]?.inReplyToEmailId
    if (!emailId || !isReply(item)) return []
    const extra = { message_id: id }
    return [{ emailId, recipient: null, type: 'replied', occurredAt: item.mail.receivedAt, source: 'inbound', extra }]
  })
  const [first] = replies
  if (first) await recordEvents(db, replies, first.occurredAt)
}

/** The closest ancestor first: In-Reply-To, then References from the end. */
function referencesOf({ inReplyTo, references }: FilingSummary): readonly string[] {
  return [...new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()])]
}
