import { type Kysely, sql } from 'kysely'
import { addTables } from '../migration-steps.ts'

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin'
const id = `CHAR(30) ${ascii}`
const at = 'DATETIME(6)'

const tables = {
  events: `
    position BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, id ${id} NOT NULL,
    organization_id ${id} NOT NULL, brand_id ${id} NULL, mailbox_id ${id} NULL, type VARCHAR(32) ${ascii} NOT NULL,
    occurred_at ${at} NOT NULL, data MEDIUMTEXT NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (position)`,
  event_numbers: `
    sequence BIGINT UNSIGNED NOT NULL, position BIGINT UNSIGNED NOT NULL, organization_id ${id} NOT NULL,
    PRIMARY KEY (sequence), UNIQUE KEY event_numbers_position (position),
    KEY event_numbers_organization (organization_id, sequence, position)`,
  event_sequence: `
    id TINYINT UNSIGNED NOT NULL, passed BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (id)`,
  event_watermark: `
    id TINYINT UNSIGNED NOT NULL, position BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (id)`,
  event_floors: `
    organization_id ${id} NOT NULL, deleted_until BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (organization_id)`,
  event_readers: `
    name VARCHAR(32) ${ascii} NOT NULL, sequence BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (name)`,
}

/** What happened, in order: the events that programs read, or that webhooks deliver. */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
  await sql`INSERT IGNORE INTO event_sequence (id, passed) VALUES (1, 0)`.execute(db)
  await sql`INSERT IGNORE INTO event_watermark (id, position) VALUES (1, 0)`.execute(db)
  await sql`INSERT IGNORE INTO event_readers (name, sequence) VALUES ('unconfirmed', 0)`.execute(db)
}
