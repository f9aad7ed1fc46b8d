import type { Kysely } from 'kysely'
import { addColumns } from '../migration-steps.ts'

/** What is known of the submission of a recipient whose claim was never settled. */
export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db, [
    ['outbox', 'submitting', 'TINYINT(1) NULL'],
    ['outbox', 'accepted', 'TEXT NULL'],
    ['outbox', 'ambiguous', 'TINYINT(1) NOT NULL DEFAULT 0'],
  ])
}
