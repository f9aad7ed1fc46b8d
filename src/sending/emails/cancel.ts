import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import type { Tenant } from '../../api/tenant.ts'
import type { Clock, Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { EmailStatus } from '../../base/database/schema.ts'
import type { Id } from '../../base/ids.ts'
import { refuse } from '../../base/refusal.ts'
import { recordEvents } from '../events/events.ts'
import { selectRecipients } from '../events/table.ts'
import { deleteOutboxRows, lockOutboxRowsOf } from '../relay/outbox.ts'
import { emailRefusals, readEmail, requireEmail } from './emails.ts'
import type { EmailDetail } from './schema.ts'

/** The refusals of {@link cancelEmail}. */
export const cancelEmailRefusals = [...emailRefusals, 'not_scheduled'] as const

/**
 * Takes a scheduled email back: none of its recipients gets it. The relay that claims one of them at the same time is
 * either before this, which is then refused, or finds nothing to claim.
 * @throws Refusal `not_found`, `brand_restricted`, `not_scheduled`
 */
export async function cancelEmail(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  tenant: Tenant,
  id: string,
  reservation?: Reservation,
): Promise<EmailDetail> {
  return inTransaction(db, async tx => {
    const { id: emailId, status } = await requireEmail(tx, tenant, id)
    // Its rows before the email itself, as the relay locks them.
    const rows = await lockOutboxRowsOf(tx, emailId)
    const isUntouched = rows.every(row => row.lease === null && row.attempts === 0)
    if (status !== 'scheduled' || !isUntouched || !(await waitWhole(tx, emailId, rows.length)))
      throw refuse('not_scheduled', { message: `${emailId} does not wait to be sent at a later time any more.` })
    await deleteOutboxRows(
      tx,
      rows.map(row => row.id),
    )
    const at = clock.now()
    await recordEvents(tx, [{ emailId, recipient: null, type: 'canceled', occurredAt: at, source: 'api' }], at)
    const detail = await readEmail(tx, tenant, emailId)
    await storeResponse(tx, reservation, { status: 200, body: detail, at })
    return detail
  })
}

/** Do all recipients that are not suppressed still wait, each with its row? */
async function waitWhole(db: Db, emailId: Id<'eml'>, rows: number): Promise<boolean> {
  const going = (await selectRecipients(db, [emailId])).filter(recipient => recipient.status !== 'suppressed')
  return going.length === rows && going.every(each => each.status === 'scheduled')
}

/** A recipient that is still to be submitted, its row in the outbox locked, and nobody submitting it. */
export interface QueuedRecipient {
  readonly id: Id<'out'>
  readonly emailId: Id<'eml'>
  readonly recipient: string
  readonly status: EmailStatus
}

/** Takes recipients back on the word of the operator, in the caller's transaction: they do not get the email. */
export async function cancelRecipients(db: Db, waiting: readonly QueuedRecipient[], at: Instant): Promise<void> {
  await deleteOutboxRows(
    db,
    waiting.map(row => row.id),
  )
  const told = { type: 'canceled', occurredAt: at, source: 'api', detail: 'Canceled by the operator.' } as const
  const events = waiting
    .filter(({ status }) => stillWaits.has(status))
    .map(({ emailId, recipient }) => ({ ...told, emailId, recipient, extra: { actor: 'operator' } }))
  await recordEvents(db, events, at)
}

/** A report may have ended it meanwhile. */
const stillWaits: ReadonlySet<EmailStatus> = new Set(['scheduled', 'queued', 'sending', 'delayed'])
