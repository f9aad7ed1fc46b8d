import { type Clock, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { toJson } from '../../base/database/schema.ts'
import { type Id, newId } from '../../base/ids.ts'
import { appendEvents, type NewEvent } from '../../events/append-events.ts'
import { lockEventReader, selectOldEvents, updateEventReader } from '../../events/readers-table.ts'
import { emailFeedEvent } from '../events/feed-events.ts'
import { type EmailDeliveryState, type EmailRecipientRow, lockEmailStates, selectRecipients } from '../events/table.ts'
import { recipientDetail, type UnconfirmedPolicy } from './unconfirmed.ts'

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
export async function recordUnconfirmed({ db, clock, afterMs }: UnconfirmedDeps): Promise<'more' | 'done'> {
  return await inTransaction(db, async tx => {
    const after = await lockEventReader(tx, readerName)
    // Another process is at it.
    if (after === undefined) return 'done'
    const policy = { now: clock.now(), afterMs }
    const before = plusMs(policy.now, -afterMs)
    const read = await selectOldEvents(tx, { type: 'email.sent', after, before, limit: eventsPerRound })
    const last = read.at(-1)
    if (!last) return 'done'
    await appendEvents(tx, await unconfirmedEvents(tx, read.flatMap(sentRecipient), policy))
    await updateEventReader(tx, readerName, last.sequence)
    return read.length === eventsPerRound ? 'more' : 'done'
  })
}

/** A recipient whom an `email.sent` was about. */
interface SentRecipient {
  readonly emailId: Id<'eml'>
  /** null: all of them. */
  readonly address: string | null
}

function sentRecipient({ data }: { readonly data: string | null }): readonly SentRecipient[] {
  if (data === null) return []
  const { email_id: emailId, recipient } = JSON.parse(data) as {
    readonly email_id: Id<'eml'>
    readonly recipient: string | null
  }
  return [{ emailId, address: recipient?.toLowerCase() ?? null }]
}

/** An event for each of them who is still `sent`, and has been for long enough. */
async function unconfirmedEvents(
  tx: Db,
  sent: readonly SentRecipient[],
  policy: UnconfirmedPolicy,
): Promise<readonly NewEvent[]> {
  const ids = [...new Set(sent.map(({ emailId }) => emailId))].sort()
  if (ids.length === 0) return []
  const emails = new Map((await lockEmailStates(tx, ids)).map(email => [email.id, email]))
  const before = plusMs(policy.now, -policy.afterMs)
  const wasSent = (row: EmailRecipientRow) =>
    sent.some(
      one => one.emailId === row.email_id && (one.address ?? row.email.toLowerCase()) === row.email.toLowerCase(),
    )
  return (await selectRecipients(tx, ids)).flatMap(row => {
    const email = emails.get(row.email_id)
    const isSilent = row.status === 'sent' && row.updated_at <= before
    return email && isSilent && wasSent(row) ? [unconfirmedEvent(email, row, policy)] : []
  })
}

function unconfirmedEvent(email: EmailDeliveryState, row: EmailRecipientRow, policy: UnconfirmedPolicy): NewEvent {
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
