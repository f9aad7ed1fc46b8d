import type { Kysely } from 'kysely'
import { addColumns } from '../migration-steps.ts'

/** When what several people may change was last changed; null: not since it was created. */
export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db, [
    ['organizations', 'updated_at', 'DATETIME(6) NULL'],
    ['members', 'updated_at', 'DATETIME(6) NULL'],
    ['invitations', 'updated_at', 'DATETIME(6) NULL'],
  ])
}
