import { sql } from 'kysely'
import type { Db } from '../../src/base/database/database.ts'

interface Process {
  readonly Id: number | string
  readonly db: string | null
  readonly Command: string
  /** The statement, bytes that are no text included: in information_schema MySQL refuses to show those. */
  readonly Info: string | null
}

const locking = / for update| for share| lock in share mode|^update |^insert ignore /i

/** Does another connection to this database run a statement that locks rows of a table? While it runs, it waits for a lock. */
export async function isWaitingForLock(db: Db, table: string): Promise<boolean> {
  return (await countWaitingForLock(db, table)) > 0
}

/** How many other connections do so. */
export async function countWaitingForLock(db: Db, table: string): Promise<number> {
  const own = await sql<{ id: number; name: string }>`SELECT CONNECTION_ID() AS id, DATABASE() AS name`.execute(db)
  const { rows } = await sql<Process>`SHOW FULL PROCESSLIST`.execute(db)
  return rows.filter(
    ({ Id, db: name, Command, Info }) =>
      Number(Id) !== Number(own.rows[0]?.id) &&
      name === own.rows[0]?.name &&
      Command !== 'Sleep' &&
      Info?.includes(table) &&
      locking.test(Info),
  ).length
}
