import { type Kysely, sql } from 'kysely'

/** What RCPT asks of a name: is it the return path of some domain? */
export async function up(db: Kysely<never>): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'domain_records' AND index_name = 'domain_records_of_name'`.execute(
    db,
  )
  if (rows.length === 0)
    await sql.raw('ALTER TABLE domain_records ADD KEY domain_records_of_name (name, purpose)').execute(db)
}
