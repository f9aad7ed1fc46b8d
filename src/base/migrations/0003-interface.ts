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
}

const keyColumns: Readonly<Record<string, string>> = {
  /** Who made it; null: the operator's command line. */
  maker_id: `${id} NULL`,
  /** The member whose key it is; null: the organization's own. */
  member_id: `${id} NULL`,
}

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, columns] of Object.entries(tables))
    await sql
      .raw(
        `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
      )
      .execute(db)
  for (const [name, type] of Object.entries(keyColumns)) await addColumn(db, 'api_keys', name, type)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function addColumn(db: Kysely<never>, table: string, name: string, type: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ${table} AND column_name = ${name}`.execute(db)
  if (rows.length === 0) await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
}
