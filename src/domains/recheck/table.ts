import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type DomainRow, domainColumns } from '../table.ts'

/** A domain that is due for a recheck. */
export type DueDomain = DomainRow & { readonly checks_unchanged: number }

/** Leases up to `most` domains that are due, longest overdue first: no other process leases them before `until`. */
export async function leaseDueDomains(
  db: Db,
  now: Instant,
  { until, most }: { readonly until: Instant; readonly most: number },
): Promise<readonly DueDomain[]> {
  return inTransaction(db, async tx => {
    const due = await tx
      .selectFrom('domains')
      .select([...domainColumns, 'checks_unchanged'])
      .where('next_check_at', '<=', now)
      .orderBy('next_check_at')
      .limit(sql.lit(most))
      .forUpdate()
      .skipLocked()
      .execute()
    const ids = due.map(domain => domain.id)
    if (ids.length > 0) await tx.updateTable('domains').set({ next_check_at: until }).where('id', 'in', ids).execute()
    return due
  })
}

/** Schedules the next recheck of a domain. @param unchanged how many rechecks in a row have found no change */
export async function updateNextCheck(db: Db, id: Id<'dom'>, at: Instant, unchanged = 0): Promise<void> {
  await db.updateTable('domains').set({ next_check_at: at, checks_unchanged: unchanged }).where('id', '=', id).execute()
}
