import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { recordEvents } from '../events/events.ts'
import { isUnsent } from '../events/status.ts'
import { selectRecipients } from '../events/table.ts'
import { deleteOutboxRows, lockOutboxRowsOf } from '../relay/outbox.ts'
import { emailRefusals, readEmail, requireEmail } from './emails.ts'
import type { EmailDetail } from './schema.ts'

/** The refusals of {@link cancelEmail}. */
export const cancelEmailRefusals = [...emailRefusals, 'not_scheduled'] as const

/**
 * Cancels a scheduled email, also one that is due and waits for its domain: none of its recipients gets it. A relay that
 * claims one of them at the same time either comes first, and the cancellation is refused, or finds nothing to claim.
 * @throws Refusal `not_found`, `brand_restricted`, `not_scheduled`
 */
export async function cancelEmail(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  tenant: Tenant,
  id: string,
  reservation?: Reservation,
): Promise<EmailDetail> {
  return inTransaction(db, async tx => {
    const { id: emailId, scheduled_at: scheduledAt } = await requireEmail(tx, tenant, id)
    // Its outbox rows are locked before the email itself, in the same order as the relay locks them.
    const rows = await lockOutboxRowsOf(tx, emailId)
    const isUnclaimed = rows.every(row => row.lease === null && row.attempts === 0)
    if (scheduledAt === null || !isUnclaimed || !(await areAllWaiting(tx, emailId, rows.length)))
      throw refuse('not_scheduled', { message: `${emailId} is not scheduled, or is being sent already.` })
    await deleteOutboxRows(
      tx,
      rows.map(row => row.id),
    )
    const at = clock.now()
    await recordEvents(tx, [{ emailId, recipient: null, type: 'canceled', occurredAt: at, source: 'api' }], at)
    const detail = await readEmail(tx, tenant, emailId)
    await storeResponse(tx, reservation, { status: 200, body: detail })
    return detail
  })
}

/** Is the email still to be sent to all recipients that are not suppressed: scheduled, or due and waiting for its domain? */
async function areAllWaiting(db: Db, emailId: Id<'eml'>, rows: number): Promise<boolean> {
  const unsuppressed = (await selectRecipients(db, [emailId])).filter(recipient => recipient.status !== 'suppressed')
  return (
    rows > 0 &&
    unsuppressed.length === rows &&
    unsuppressed.every(({ status }) => status === 'scheduled' || status === 'delayed')
  )
}

/** A recipient whose outbox row is locked and not claimed. */
export interface QueuedRecipient {
  readonly id: Id<'out'>
  readonly emailId: Id<'eml'>
  readonly recipient: string
  readonly status: EmailStatus
  /** May the provider have taken it nevertheless? The event says so. */
  readonly isAmbiguous: boolean
}

/** Cancels recipients for the operator, in the caller's transaction: they do not get the email. */
export async function cancelRecipients(db: Db, waiting: readonly QueuedRecipient[], at: Instant): Promise<void> {
  await deleteOutboxRows(
    db,
    waiting.map(row => row.id),
  )
  const canceled = { type: 'canceled', occurredAt: at, source: 'api', detail: 'Canceled by the operator.' } as const
  const events = waiting
    .filter(({ status }) => isUnsent(status))
    .map(({ emailId, recipient, isAmbiguous }) => ({
      ...canceled,
      emailId,
      recipient,
      extra: { actor: 'operator', ...(isAmbiguous && { ambiguous: true }) },
    }))
  await recordEvents(db, events, at)
}
