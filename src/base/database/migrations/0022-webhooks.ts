import { type Kysely, sql } from 'kysely'
import { addTables } from '../migration-steps.ts'

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin'
const id = `CHAR(30) ${ascii}`
const at = 'DATETIME(6)'

const tables = {
  webhooks: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, url VARCHAR(2048) NOT NULL, types VARCHAR(1024) ${ascii} NOT NULL,
    brand_id ${id} NULL, mailbox_ids TEXT ${ascii} NOT NULL, description VARCHAR(256) NULL,
    sealed TEXT ${ascii} NOT NULL, sealed_by CHAR(16) ${ascii} NOT NULL, secret_ends_in CHAR(4) ${ascii} NOT NULL,
    maker_key_id ${id} NULL, maker_member_id ${id} NULL, read_through BIGINT UNSIGNED NOT NULL,
    last_success_at ${at} NULL, failing_since ${at} NULL, disabled_at ${at} NULL, disabled_reason VARCHAR(16) ${ascii} NULL,
    notice_due_at ${at} NULL, lease CHAR(26) ${ascii} NULL, leased_until ${at} NULL, created_at ${at} NOT NULL, updated_at ${at} NOT NULL,
    PRIMARY KEY (id), KEY webhooks_organization (organization_id, id), KEY webhooks_disabled (disabled_at, id),
    KEY webhooks_notice (notice_due_at)`,
  // Without a foreign key: the deliveries of a deleted webhook, which nobody sees any more, go with their retention time.
  webhook_deliveries: `
    id ${id} NOT NULL, webhook_id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NULL,
    sequence BIGINT UNSIGNED NOT NULL, event_id ${id} NOT NULL, type VARCHAR(32) ${ascii} NOT NULL,
    status VARCHAR(16) ${ascii} NOT NULL, attempt SMALLINT UNSIGNED NOT NULL, at ${at} NOT NULL, duration_ms INT UNSIGNED NULL,
    http_status SMALLINT UNSIGNED NULL, error VARCHAR(500) NULL, response TEXT NULL, next_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY webhook_deliveries_event (webhook_id, sequence),
    KEY webhook_deliveries_due (webhook_id, next_at), KEY webhook_deliveries_list (webhook_id, at, id),
    KEY webhook_deliveries_status (webhook_id, status, at, id), KEY webhook_deliveries_age (at, id)`,
}

/**
 * The endpoints of other programs that events are delivered to, and what became of each delivery. Kinds of stored data have
 * longer names.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
  for (const table of ['retention_policies', 'retention_cursors', 'retention_waiting'])
    await sql.raw(`ALTER TABLE ${table} MODIFY COLUMN kind VARCHAR(32) ${ascii} NOT NULL`).execute(db)
}
