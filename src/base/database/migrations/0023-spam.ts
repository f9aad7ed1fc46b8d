import type { Kysely } from 'kysely'
import { addColumns, addTables } from '../migration-steps.ts'

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin'
const id = `CHAR(30) ${ascii}`
const at = 'DATETIME(6)'

const columns = [
  ['messages', 'spam', 'TEXT NULL'],
  ['messages', 'release_reason', 'VARCHAR(64) CHARACTER SET ascii NULL'],
] as const

const tables = {
  sender_listings: `
    organization_id ${id} NOT NULL, entry VARCHAR(320) NOT NULL, listing VARCHAR(16) ${ascii} NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (organization_id, entry)`,
  spam_lessons: `
    message_id ${id} NOT NULL, organization_id ${id} NOT NULL, lesson VARCHAR(16) ${ascii} NOT NULL, due_at ${at} NOT NULL,
    attempts INT UNSIGNED NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (message_id), KEY spam_lessons_due (due_at), KEY spam_lessons_organization (organization_id)`,
}

/** What the spam filter found, what it is to learn, and whom organizations allow and block. */
export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db, columns)
  await addTables(db, tables)
}
