import { sql } from 'kysely'
import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../base/database/database.ts'

/** Makes the order for a name due at `at`, unless a process is ordering now. False: there is no such name, or one is. */
export async function updateOrderDue(db: Db, name: string, at: Instant): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('certificates')
    .set({ next_attempt_at: at })
    .where('name', '=', name)
    .where('lease', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** At most `limit` names that have or should have a certificate of an ACME authority, with their chains, by name. */
export async function selectOrderedCertificates(db: Db, limit: number) {
  return await db
    .selectFrom('certificates')
    .select(['name', 'chain', 'not_before', 'not_after', 'next_attempt_at', 'lease', 'failures', 'last_error'])
    .orderBy('name')
    .limit(sql.lit(limit))
    .execute()
}
