import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import { type DomainRow, domainColumns } from '../table.ts'

/** A domain that is due to be looked at. */
export type DueDomain = DomainRow & { readonly checks_unchanged: number }

/** Takes at most `most` domains that are due, those that waited longest first; nobody else takes them before `until`. */
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
    const ids = due.map(each => each.id)
    if (ids.length > 0) await tx.updateTable('domains').set({ next_check_at: until }).where('id', 'in', ids).execute()
    return due
  })
}

/** Says when a domain is looked at next without anyone asking. */
export async function updateNextCheck(db: Db, id: Id<'dom'>, at: Instant, unchanged = 0): Promise<void> {
  await db.updateTable('domains').set({ next_check_at: at, checks_unchanged: unchanged }).where('id', '=', id).execute()
}
