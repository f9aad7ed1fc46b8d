import type { Kysely } from 'kysely'
import { addColumns } from '../migration-steps.ts'

/** How an email came: by the API, or submitted by SMTP. */
export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db, [['emails', 'source', "VARCHAR(8) CHARACTER SET ascii NOT NULL DEFAULT 'api'"]])
}
