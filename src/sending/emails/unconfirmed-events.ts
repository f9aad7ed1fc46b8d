import { type Clock, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import { appendEvents, type NewEvent } from '../../events/append-events.ts'
import { lockEventReader, selectOldEvents, updateEventReader } from '../../events/readers-table.ts'
import { emailFeedEvent } from '../events/feed-events.ts'
import { recipientDetail } from './unconfirmed.ts'
import { type SentRecipientRow, selectSentBefore } from './unconfirmed-table.ts'

export interface UnconfirmedDeps {
  readonly db: Db
  readonly clock: Clock
  /** After how long without a report, in milliseconds. */
  readonly afterMs: number
}

const readerName = 'unconfirmed'
const eventsPerRound = 500

/**
 * A round of the job `unconfirmed`: writes `email.unconfirmed` for each recipient who was `sent` so long ago, and of whom nothing
 * was heard since. It reads the sequence itself, that long behind its end, so that each `email.sent` is looked at once.
 */
export async function tellUnconfirmed({ db, clock, afterMs }: UnconfirmedDeps): Promise<'more' | 'done'> {
  return await inTransaction(db, async tx => {
    const after = await lockEventReader(tx, readerName)
    // Another process is at it.
    if (after === undefined) return 'done'
    const now = clock.now()
    const before = plusMs(now, -afterMs)
    const read = await selectOldEvents(tx, { type: 'email.sent', after, before, limit: eventsPerRound })
    const last = read.at(-1)
    if (!last) return 'done'
    const sent = new Set(read.flatMap(({ data }) => (data === null ? [] : sentKey(JSON.parse(data)))))
    const silent = await selectSentBefore(tx, [...new Set(Array.from(sent, emailIdOf))], before)
    await appendEvents(
      tx,
      silent
        .filter(row => sent.has(`${row.email_id} ${row.email.toLowerCase()}`))
        .map(row => unconfirmedEvent(row, { now, afterMs })),
    )
    await updateEventReader(tx, readerName, last.sequence)
    return read.length === eventsPerRound ? 'more' : 'done'
  })
}

function sentKey(data: { readonly email_id: Id<'eml'>; readonly recipient: string | null }): string {
  return `${data.email_id} ${data.recipient?.toLowerCase()}`
}

function emailIdOf(key: string): Id<'eml'> {
  return key.slice(0, key.indexOf(' ')) as Id<'eml'>
}

function unconfirmedEvent(
  row: SentRecipientRow,
  policy: { readonly now: Instant; readonly afterMs: number },
): NewEvent {
  const email = {
    id: row.email_id,
    organizationId: row.organization_id,
    brandId: row.brand_id,
    messageId: row.message_id,
    subject: row.subject,
    tags: row.tags,
    metadata: row.metadata,
  }
  const event = {
    id: newId('evt'),
    type: 'unconfirmed' as const,
    recipient: row.email,
    occurred_at: policy.now,
    smtp_code: row.smtp_code,
    enhanced_code: row.enhanced_code,
    detail: recipientDetail(row, policy),
    bounce: null,
    extra: toJson({}),
  }
  return emailFeedEvent(email, event, row.status)
}
