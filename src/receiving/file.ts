import { createHash } from 'node:crypto'
import { plusMs } from '../base/clock.ts'
import { batched } from '../base/concurrency/batch.ts'
import { type Db, inTransaction, isDatabaseTrouble } from '../base/database/database.ts'
import { type Id, newId } from '../base/ids.ts'
import type { Blobs } from '../ports/blobs/port.ts'
import { type DeliveryEvent, recordEvents } from '../sending/events/events.ts'
import { type Joined, joinThreads } from '../sending/threads/threads.ts'
import { attachmentRows, type Delivery, type Fileable, type Item, isReply, messageRow } from './message-row.ts'
import type { Outline } from './parse.ts'
import { refuseMail } from './refusal.ts'
import { digestOf } from './store.ts'
import { insertAttachments, insertMessages, lockMailboxes } from './table.ts'

function itemOf(what: Fileable): Item {
  return {
    ...what,
    mailboxIds: [...new Set(what.mail.recipients.flatMap(each => each.mailboxId ?? []))],
    sameness: createHash('sha256').update(`${what.mail.mailFrom}\0`).update(digestOf(what.bytes)).digest(),
  }
}

type Outcome =
  | { readonly kind: 'filed'; readonly id: string }
  | { readonly kind: 'mailbox_gone' }
  | { readonly kind: 'aborted' }

/** The same bytes from the same reverse-path are one message for this long. */
const samenessMs = 3 * 24 * 3600 * 1000

/** Where messages come all the time, a commit for more of them takes the less of the database and of us. */
const gatherMs = 2

export interface FilerUse {
  readonly db: Db
  readonly blobs: Blobs
}

/**
 * Files messages, many in one short transaction: a row for each mailbox that a message is for, its attachments, and the
 * thread it joins. What a mailbox has already is not filed again; its id is the answer then. Resolves after the commit.
 * @throws SmtpRefusal mailbox_gone, answer_late
 */
export function filer({ db, blobs }: FilerUse): (what: Fileable) => Promise<{ readonly id: string }> {
  const fileOne = batched<Item, Outcome>({ maxItems: 32, maxUnderWay: 1, gatherMs }, all => fileAll(db, blobs, all))
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

function fileAll(db: Db, blobs: Blobs, all: readonly Item[]): Promise<readonly Outcome[]> {
  return inTransaction(db, async tx => {
    const waiting = all.filter(({ mail }) => !mail.signal.aborted)
    const { there, known } = await holdMailboxes(tx, waiting)
    const fileable = waiting.filter(each => each.mailboxIds.every(id => there.has(id)))
    await insertDeliveries(
      tx,
      blobs,
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

/** The mailboxes that there are, which stay until the commit, and what each has of these messages. */
async function holdMailboxes(db: Db, items: readonly Item[]) {
  const [earliest] = items.map(each => each.mail.receivedAt).sort()
  const ids = [...new Set(items.flatMap(each => each.mailboxIds))]
  const samenesses = items.map(each => each.sameness)
  const rows = earliest ? await lockMailboxes(db, ids, samenesses, plusMs(earliest, -samenessMs)) : []
  const known = new Map<string, Id<'msg'>>()
  for (const { mailbox_id, message_id, sameness } of rows)
    if (message_id && sameness) known.set(placeOf({ sameness }, mailbox_id), message_id)
  return { there: new Set(rows.map(row => row.mailbox_id)), known }
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

async function insertDeliveries(db: Db, blobs: Blobs, deliveries: readonly Delivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const blobIds = await blobsOf(db, blobs, deliveries)
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
    deliveries.map((each, i) =>
      messageRow(each, { ...(threads[i] ?? { threadId: each.id, answersEmailId: null }), blobId: blobIds(each) }),
    ),
  )
  await insertAttachments(db, deliveries.flatMap(attachmentRows))
  await recordReplies(db, deliveries, threads)
}

/** Where the bytes of each delivery are; small ones are stored here, once for each organization. */
async function blobsOf(
  db: Db,
  blobs: Blobs,
  deliveries: readonly Delivery[],
): Promise<(delivery: Delivery) => Id<'blb'>> {
  const keyOf = ({ what, recipient }: Delivery) => recipient.organizationId + what.sameness.toString('base64')
  const small = new Map(
    deliveries.flatMap(each => {
      const { bytes } = each.what
      return bytes.kind === 'small'
        ? [[keyOf(each), { organizationId: each.recipient.organizationId, bytes: bytes.bytes }] as const]
        : []
    }),
  )
  const stored = small.size > 0 ? await blobs.storeWithin(db, [...small.values()]) : []
  const ids = new Map(Array.from(small.keys(), (key, i) => [key, stored[i]?.id]))
  return delivery => {
    const { bytes } = delivery.what
    const id =
      bytes.kind === 'small' ? ids.get(keyOf(delivery)) : bytes.blobs.get(delivery.recipient.organizationId)?.id
    if (!id) throw new Error(`the bytes for ${delivery.recipient.organizationId} were not stored`)
    return id
  }
}

/** Tells the emails that are answered so. */
async function recordReplies(db: Db, deliveries: readonly Delivery[], threads: readonly Joined[]): Promise<void> {
  const replies = deliveries.flatMap(({ what, id }, i): DeliveryEvent[] => {
    const emailId = threads[i]?.answersEmailId
    if (!emailId || !isReply(what)) return []
    const extra = { message_id: id }
    return [{ emailId, recipient: null, type: 'replied', occurredAt: what.mail.receivedAt, source: 'inbound', extra }]
  })
  const [first] = replies
  if (first) await recordEvents(db, replies, first.occurredAt)
}

/** Nearest first: In-Reply-To, then References from its end. */
function referencesOf({ inReplyTo, references }: Outline): readonly string[] {
  return [...new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()])]
}
