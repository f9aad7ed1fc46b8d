import { createHash } from 'node:crypto'
import { dayMs, plusMs } from '../base/clock.ts'
import { batched } from '../base/concurrency/batch.ts'
import { type Db, inTransaction, isDatabaseUnavailable } from '../base/database/database.ts'
import { type Id, newId } from '../base/ids.ts'
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
import { insertAttachments, insertMessages, lockMailboxes } from './table.ts'

type FilingOutcome =
  | { readonly kind: 'filed'; readonly id: string }
  | { readonly kind: 'mailbox_gone' }
  | { readonly kind: 'aborted' }

/** For so long the same bytes from the same reverse-path to the same mailbox are one message. */
const duplicateWindowMs = 3 * dayMs

const maxBatch = 32
/** How long a batch waits for more messages while many come: one commit for several costs less than one for each. */
const batchWaitMs = 2

export interface FilerDeps {
  readonly db: Db
  readonly blobs: BlobStore
}

/** Files messages; those that come at the same time share one short transaction. One for all that share a pool. */
export class MessageFiler {
  readonly #fileInBatch: (item: FilingItem) => Promise<FilingOutcome>

  constructor({ db, blobs }: FilerDeps) {
    const limits = { maxItems: maxBatch, maxInFlight: 1, gatherMs: batchWaitMs }
    this.#fileInBatch = batched<FilingItem, FilingOutcome>(limits, items => fileBatch(db, blobs, items))
  }

  /**
   * Files a message: a row for each mailbox that it is for, its attachments, and the thread it joins. A mailbox that has the
   * message already does not get it again; the id is that of the message it has. Resolves after the commit.
   * @throws SmtpRefusal mailbox_gone, answer_late
   */
  async file(message: FileableMessage): Promise<{ readonly id: string }> {
    const item = toFilingItem(message)
    const outcome = await this.#fileInBatch(item).catch((error: unknown) => {
      if (error instanceof FilingInterruptedError) return { kind: 'aborted' } as const
      // Whether the commit took place may be unknown; if it did, the second time finds the message filed.
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
  return {
    ...message,
    mailboxIds: [...new Set(mail.recipients.flatMap(recipient => recipient.mailboxId ?? []))],
    sameness: createHash('sha256').update(`${mail.mailFrom}\0`).update(digestOf(bytes)).digest(),
  }
}

/** A client went away while its message was being filed with others: all of them again, without it. */
class FilingInterruptedError extends Error {}

function fileBatch(db: Db, blobs: BlobStore, all: readonly FilingItem[]): Promise<readonly FilingOutcome[]> {
  return inTransaction(db, async tx => {
    const waiting = all.filter(({ mail }) => !mail.signal.aborted)
    const { there, known } = await lockAndFindFiled(tx, waiting)
    const fileable = waiting.filter(filingItem => filingItem.mailboxIds.every(id => there.has(id)))
    await insertDeliveries(
      tx,
      blobs,
      fileable.flatMap(filingItem => deliveriesOf(filingItem, known)),
    )
    if (waiting.some(({ mail }) => mail.signal.aborted)) throw new FilingInterruptedError()
    return all.map(filingItem => {
      if (!waiting.includes(filingItem)) return { kind: 'aborted' }
      if (!fileable.includes(filingItem)) return { kind: 'mailbox_gone' }
      const [mailboxId] = filingItem.mailboxIds
      return { kind: 'filed', id: (mailboxId && known.get(duplicateKey(filingItem, mailboxId))) ?? filingItem.mail.id }
    })
  })
}

/** Where a message is filed at most once. */
function duplicateKey({ sameness }: Pick<FilingItem, 'sameness'>, mailboxId: Id<'mbx'>): string {
  return mailboxId + sameness.toString('base64')
}

/** The mailboxes that there are, which stay until the commit, and what each has of these messages. */
async function lockAndFindFiled(db: Db, items: readonly FilingItem[]) {
  const [earliest] = items.map(filingItem => filingItem.mail.receivedAt).sort()
  const ids = [...new Set(items.flatMap(filingItem => filingItem.mailboxIds))]
  const samenesses = items.map(filingItem => filingItem.sameness)
  const rows = earliest ? await lockMailboxes(db, ids, samenesses, plusMs(earliest, -duplicateWindowMs)) : []
  const known = new Map<string, Id<'msg'>>()
  for (const { mailbox_id, message_id, sameness } of rows)
    if (message_id && sameness) known.set(duplicateKey({ sameness }, mailbox_id), message_id)
  return { there: new Set(rows.map(row => row.mailbox_id)), known }
}

/** What is to be filed: for each mailbox the first of its recipients, unless it has the message. Adds them to `known`. */
function deliveriesOf(what: FilingItem, known: Map<string, Id<'msg'>>): readonly MailboxDelivery[] {
  const deliveries: MailboxDelivery[] = []
  for (const recipient of what.mail.recipients) {
    const { mailboxId } = recipient
    if (mailboxId === null || known.has(duplicateKey(what, mailboxId))) continue
    const id = newId('msg')
    known.set(duplicateKey(what, mailboxId), id)
    deliveries.push({ item: what, recipient: { ...recipient, mailboxId }, id })
  }
  return deliveries
}

async function insertDeliveries(db: Db, blobs: BlobStore, deliveries: readonly MailboxDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const blobIds = await blobsOf(db, blobs, deliveries)
  const threads = await joinThreads(
    db,
    deliveries.map(({ item: { summary }, recipient, id }) => ({
      brandId: recipient.brandId,
      itemId: id,
      messageId: summary.messageId,
      references: referencesOf(summary),
      emailId: null,
    })),
  )
  await insertMessages(
    db,
    deliveries.map((delivery, i) =>
      messageRow(delivery, {
        ...(threads[i] ?? { threadId: delivery.id, inReplyToEmailId: null }),
        blobId: blobIds(delivery),
      }),
    ),
  )
  await insertAttachments(db, deliveries.flatMap(attachmentRows))
  await recordReplies(db, deliveries, threads)
}

/** Where the bytes of each delivery are; small ones are stored here, once for each organization. */
async function blobsOf(
  db: Db,
  blobs: BlobStore,
  deliveries: readonly MailboxDelivery[],
): Promise<(delivery: MailboxDelivery) => Id<'blb'>> {
  const keyOf = ({ item, recipient }: MailboxDelivery) => recipient.organizationId + item.sameness.toString('base64')
  const small = new Map(
    deliveries.flatMap(delivery => {
      const { bytes } = delivery.item
      return bytes.kind === 'small'
        ? [[keyOf(delivery), { organizationId: delivery.recipient.organizationId, bytes: bytes.bytes }] as const]
        : []
    }),
  )
  const stored = small.size > 0 ? await blobs.storeWithin(db, [...small.values()]) : []
  const ids = new Map(Array.from(small.keys(), (key, i) => [key, stored[i]?.id]))
  return delivery => {
    const { bytes } = delivery.item
    const id =
      bytes.kind === 'small' ? ids.get(keyOf(delivery)) : bytes.blobs.get(delivery.recipient.organizationId)?.id
    if (!id) throw new Error(`the bytes for ${delivery.recipient.organizationId} were not stored`)
    return id
  }
}

/** Tells the emails that are answered so. */
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

/** Nearest first: In-Reply-To, then References from its end. */
function referencesOf({ inReplyTo, references }: FilingSummary): readonly string[] {
  return [...new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()])]
}
