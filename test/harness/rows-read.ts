import { sql } from 'kysely'
import type { Db } from '../../src/base/database/database.ts'

/** The number of rows that the server reads for `work`, which gets one connection. */
export function countRowsRead(db: Db, work: (db: Db) => Promise<unknown>): Promise<number> {
  return db.connection().execute(async one => {
    const count = async () => {
      const { rows } = await sql<{ Value: string }>`SHOW SESSION STATUS LIKE 'Handler_read%'`.execute(one)
      return rows.reduce((sum, row) => sum + Number(row.Value), 0)
    }
    const before = await count()
    const own = (await count()) - before
    const start = await count()
    await work(one)
    return (await count()) - start - own
  })
}
