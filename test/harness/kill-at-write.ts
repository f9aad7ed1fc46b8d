import { sql } from 'kysely'
import type { Mailroom } from './mailroom.ts'

/** A write to the database at which a process is to die. */
export interface WriteStep {
  readonly table: string
  readonly write: 'INSERT' | 'UPDATE' | 'DELETE'
  /** How many transactions are to be there at once; 1 unless given. */
  readonly count?: number
  /** Only of rows for which this holds, such as `NEW.status = 'bounced'`; absent: of any. */
  readonly when?: string
}

const longestMs = 20_000

/** Kills the process while it is at a write to a row of a table, and starts it again. */
export async function killAtWrite(
  mailroom: Mailroom,
  { table, write, when = 'TRUE', count = 1 }: WriteStep,
  work: () => Promise<unknown>,
): Promise<void> {
  const { db } = mailroom.database
  const areThere = async () => {
    const { rows } = await sql`SELECT id FROM information_schema.processlist
      WHERE db = DATABASE() AND state = 'User lock'`.execute(db)
    return rows.length === count
  }
  await db.connection().execute(async holding => {
    await sql`SELECT GET_LOCK('held', 0)`.execute(holding)
    const hang = `IF ${when} THEN SET @held = GET_LOCK('held', 60); END IF`
    await sql.raw(`CREATE TRIGGER hang BEFORE ${write} ON ${table} FOR EACH ROW ${hang}`).execute(db)
    try {
      const working = work().catch(() => undefined)
      for (const deadline = Date.now() + longestMs; !(await areThere()); await Bun.sleep(5))
        if (Date.now() > deadline) throw new Error(`did not come: ${write} of ${table}`)
      await mailroom.kill('SIGKILL')
      await working
    } finally {
      await sql`SELECT RELEASE_LOCK('held')`.execute(holding)
      await sql.raw('DROP TRIGGER hang').execute(db)
    }
  })
  await mailroom.restart()
}
