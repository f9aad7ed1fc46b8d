import { type Kysely, sql } from 'kysely'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'
const flag = 'TINYINT(1)'

const tables: Readonly<Record<string, string>> = {
  members: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, email VARCHAR(320) NOT NULL, name VARCHAR(256) NOT NULL,
    role ${word} NOT NULL, permissions VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    created_at ${at} NOT NULL, last_active_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY members_email (organization_id, email),
    FOREIGN KEY (organization_id) REFERENCES organizations (id)`,
  member_brands: `
    member_id ${id} NOT NULL, brand_id ${id} NOT NULL,
    PRIMARY KEY (member_id, brand_id), FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE,
    FOREIGN KEY (brand_id) REFERENCES brands (id)`,
  invitations: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, email VARCHAR(320) NULL, brand_ids TEXT NOT NULL,
    permissions VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, invited_by ${id} NULL,
    token_hash BINARY(32) NOT NULL, created_at ${at} NOT NULL, expires_at ${at} NOT NULL,
    accepted_at ${at} NULL, revoked_at ${at} NULL, member_id ${id} NULL,
    PRIMARY KEY (id), UNIQUE KEY invitations_token (token_hash), KEY invitations_organization (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id)`,
  templates: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL,
    slug VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, name VARCHAR(120) NOT NULL,
    subject TEXT NULL, text MEDIUMTEXT NULL, html MEDIUMTEXT NULL, variables MEDIUMTEXT NOT NULL,
    created_at ${at} NOT NULL, updated_at ${at} NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY templates_slug (brand_id, slug), KEY templates_organization (organization_id, id),
    FOREIGN KEY (brand_id) REFERENCES brands (id)`,
  drafts: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NULL, from_header TEXT NULL,
    to_addresses MEDIUMTEXT NOT NULL, cc_addresses MEDIUMTEXT NOT NULL, bcc_addresses MEDIUMTEXT NOT NULL,
    reply_to MEDIUMTEXT NOT NULL, subject TEXT NULL, text MEDIUMTEXT NULL, in_reply_to ${id} NULL,
    created_at ${at} NOT NULL, updated_at ${at} NOT NULL,
    PRIMARY KEY (id), KEY drafts_organization (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id)`,
  request_log: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, created_at ${at} NOT NULL,
    client_request_id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,
    method VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, path VARCHAR(512) NOT NULL,
    status SMALLINT UNSIGNED NOT NULL, duration_ms INT UNSIGNED NOT NULL, api_key_id ${id} NOT NULL, brand_id ${id} NULL,
    ip VARCHAR(45) CHARACTER SET ascii NOT NULL, user_agent VARCHAR(255) NULL,
    error_code VARCHAR(64) CHARACTER SET ascii NULL, idempotent_replay ${flag} NOT NULL, email_id ${id} NULL,
    PRIMARY KEY (organization_id, created_at), KEY request_log_created (created_at)`,
  email_lookups: `
    lookup BINARY(16) NOT NULL, created_at ${at} NOT NULL, email_id ${id} NOT NULL, brand_id ${id} NOT NULL,
    PRIMARY KEY (lookup, created_at, email_id), KEY email_lookups_brand (lookup, brand_id, created_at)`,
  unsubscribe_links: `
    token_hash BINARY(32) NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL, email_id ${id} NOT NULL,
    email VARCHAR(320) NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (token_hash)`,
  local_zones: `
    name VARCHAR(253) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (name)`,
  dns_removals: `
    organization_id ${id} NOT NULL, idempotency_key VARCHAR(255) NOT NULL, record_id ${id} NOT NULL,
    created_at ${at} NOT NULL,
    PRIMARY KEY (organization_id, idempotency_key, record_id), KEY dns_removals_age (created_at)`,
}

const keyColumns: Readonly<Record<string, string>> = {
  /** Who made it; null: the operator's command line. */
  maker_id: `${id} NULL`,
  /** The member whose key it is; null: the organization's own. */
  member_id: `${id} NULL`,
}

const indexes: readonly (readonly [table: string, name: string, columns: string])[] = [
  ['emails', 'emails_status', 'organization_id, status, created_at'],
  ['emails', 'emails_brand_status', 'brand_id, status, created_at'],
  ['suppressions', 'suppressions_reason', 'organization_id, reason, id'],
  ['suppressions', 'suppressions_brand', 'brand_id, id'],
  ['suppressions', 'suppressions_brand_reason', 'brand_id, reason, id'],
  ['suppressions', 'suppressions_expires', 'expires_at'],
  ['templates', 'templates_brand', 'brand_id, id'],
]

/** By what an email is found, as sending/lookups.ts has it. */
const lookup = (text: string) => `UNHEX(LEFT(SHA2(CONCAT(emails.organization_id, ${text}), 256), 32))`

/** The lookups of the emails that were accepted before there were lookups. */
const lookups = [
  `INSERT IGNORE INTO email_lookups (lookup, created_at, email_id, brand_id)
    SELECT ${lookup("' recipient ', LOWER(email_recipients.email)")}, emails.created_at, emails.id, emails.brand_id
    FROM emails INNER JOIN email_recipients ON email_recipients.email_id = emails.id`,
  `INSERT IGNORE INTO email_lookups (lookup, created_at, email_id, brand_id)
    SELECT ${lookup("' tag ', tag.name, ':', tag.value")}, emails.created_at, emails.id, emails.brand_id
    FROM emails, JSON_TABLE(emails.tags, '$[*]' COLUMNS (
      name VARCHAR(120) PATH '$.name', value VARCHAR(256) PATH '$.value')) tag`,
]

/** An email's first event is told from the email. */
const beginnings = `DELETE FROM email_events WHERE type IN ('queued', 'scheduled') AND source = 'api'`

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, columns] of Object.entries(tables))
    await sql
      .raw(
        `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
      )
      .execute(db)
  for (const [name, type] of Object.entries(keyColumns)) await addColumn(db, 'api_keys', name, type)
  await addColumn(db, 'emails', 'unsubscribable', `${flag} NOT NULL DEFAULT 0`)
  await addColumn(db, 'suppressions', 'unsubscribed_at', `${at} NULL`)
  await addColumn(db, 'local_records', 'mark', 'VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NULL')
  await addColumn(db, 'local_records', 'updated_at', `${at} NULL`)
  for (const index of indexes) await addIndex(db, ...index)
  for (const statement of [...lookups, beginnings]) await sql.raw(statement).execute(db)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<never>, table: string, name: string, type: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db)
  if (rows.length === 0) await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
}

async function addIndex(db: Kysely<never>, table: string, name: string, columns: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = ${table} AND index_name = ${name}`.execute(db)
  if (rows.length === 0) await sql.raw(`ALTER TABLE ${table} ADD KEY ${name} (${columns})`).execute(db)
}
