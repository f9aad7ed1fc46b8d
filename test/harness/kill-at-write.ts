import { sql } from 'kysely'
import type { Mailroom } from './mailroom.ts'
import { until } from './until.ts'

/** A database write during which the process is killed. */
export interface WriteStep {
  readonly table: string
  readonly write: 'INSERT' | 'UPDATE' | 'DELETE'
  /** How many transactions have to wait at the write; 1 unless given. */
  readonly count?: number
  /** Only rows for which this SQL condition holds, such as `NEW.status = 'bounced'`; absent: every row. */
  readonly when?: string
}

/** Kills the process during a write to a row of a table, and restarts it. */
export async function killAtWrite(
  mailroom: Mailroom,
  { table, write, when = 'TRUE', count = 1 }: WriteStep,
  work: () => Promise<unknown>,
): Promise<void> {
  const { db } = mailroom.database
  const areWaiting = async () => {
    const { rows } = await sql`SELECT id FROM information_schema.processlist
      WHERE db = DATABASE() AND state = 'User lock'`.execute(db)
    return rows.length === count
  }
  await db.connection().execute(async lockHolder => {
    await sql`SELECT GET_LOCK('kill_at_write', 0)`.execute(lockHolder)
    const waitForLock = `IF ${when} THEN SET @locked = GET_LOCK('kill_at_write', 60); END IF`
    await sql.raw(`CREATE TRIGGER kill_at_write BEFORE ${write} ON ${table} FOR EACH ROW ${waitForLock}`).execute(db)
    try {
      const working = work().catch(() => undefined)
      await until(areWaiting, { what: `${write} of ${table}` })
      await mailroom.kill('SIGKILL')
      await working
    } finally {
      await sql`SELECT RELEASE_LOCK('kill_at_write')`.execute(lockHolder)
      await sql.raw('DROP TRIGGER kill_at_write').execute(db)
    }
  })
  await mailroom.restart()
}
