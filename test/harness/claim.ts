import type { Instant } from '../../src/base/clock.ts'
import type { Db } from '../../src/base/database/database.ts'
import { claimDueRows } from '../../src/sending/relay/claim-table.ts'
import type { ClaimedRecipient } from '../../src/sending/relay/outbox.ts'

/** Claims the oldest due rows, as a process does that has nothing in hand and room for all. */
export async function claimOldest(
  db: Db,
  options: { readonly maxRows: number; readonly leaseMs: number; readonly now: Instant },
): Promise<readonly ClaimedRecipient[]> {
  const claim = {
    ...options,
    expiredOnly: false,
    isBacklog: false,
    roomOf: () => options.maxRows,
    isInHand: () => false,
  }
  return (await claimDueRows(db, claim, async () => [])).recipients
}

/** As if the leases of a dead process had run out. */
export async function expireLeases(db: Db): Promise<void> {
  await db
    .updateTable('outbox')
    .set(({ ref }) => ({ due_at: ref('created_at') }))
    .where('lease', 'is not', null)
    .execute()
}
