import { type Kysely, sql } from 'kysely'

const id = 'CHAR(30) CHARACTER SET ascii COLLATE ascii_bin'
const token = 'CHAR(26) CHARACTER SET ascii COLLATE ascii_bin'
const word = 'VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin'
const domain = 'VARCHAR(253) CHARACTER SET ascii COLLATE ascii_bin'
const at = 'DATETIME(6)'
const flag = 'TINYINT(1)'

const tables: Readonly<Record<string, string>> = {
  organizations: `
    id ${id} NOT NULL, name VARCHAR(120) NOT NULL, plan ${word} NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id)`,
  usage_months: `
    organization_id ${id} NOT NULL, month CHAR(7) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, slot TINYINT UNSIGNED NOT NULL,
    accepted INT UNSIGNED NOT NULL,
    PRIMARY KEY (organization_id, month, slot)`,
  brands: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, name VARCHAR(120) NOT NULL,
    slug VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    status ${word} NOT NULL, created_at ${at} NOT NULL, updated_at ${at} NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY brands_slug (organization_id, slug),
    FOREIGN KEY (organization_id) REFERENCES organizations (id)`,
  api_keys: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NULL, name VARCHAR(120) NOT NULL,
    secret_hash BINARY(32) NOT NULL, scopes VARCHAR(512) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    expires_at ${at} NULL, revoked_at ${at} NULL, last_used_at ${at} NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id), KEY api_keys_organization (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id), FOREIGN KEY (brand_id) REFERENCES brands (id)`,
  idempotency_keys: `
    organization_id ${id} NOT NULL, idempotency_key VARCHAR(255) NOT NULL,
    fingerprint BINARY(32) NOT NULL, token ${token} NOT NULL, leased_until ${at} NOT NULL,
    status SMALLINT UNSIGNED NULL, answer MEDIUMTEXT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (organization_id, idempotency_key), KEY idempotency_keys_age (created_at)`,

  domains: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL, domain ${domain} NOT NULL,
    status ${word} NOT NULL, ownership_verified ${flag} NOT NULL, provider_error TEXT NULL,
    last_checked_at ${at} NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY domains_domain (organization_id, domain), KEY domains_name (domain),
    FOREIGN KEY (organization_id) REFERENCES organizations (id), FOREIGN KEY (brand_id) REFERENCES brands (id)`,
  domain_records: `
    id ${id} NOT NULL, domain_id ${id} NOT NULL, purpose VARCHAR(24) CHARACTER SET ascii NOT NULL,
    type ${word} NOT NULL, name VARCHAR(320) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, value TEXT NOT NULL,
    priority SMALLINT UNSIGNED NULL, required ${flag} NOT NULL, status ${word} NOT NULL, found TEXT NOT NULL,
    checked_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY domain_records_name (domain_id, purpose, name),
    FOREIGN KEY (domain_id) REFERENCES domains (id) ON DELETE CASCADE`,
  dkim_keys: `
    domain_id ${id} NOT NULL, selector VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    private_key TEXT NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (domain_id, selector), FOREIGN KEY (domain_id) REFERENCES domains (id) ON DELETE CASCADE`,
  receiving_claims: `
    domain ${domain} NOT NULL, organization_id ${id} NOT NULL, domain_id ${id} NOT NULL,
    identity_verified ${flag} NOT NULL, identity_error TEXT NULL, mx_verified ${flag} NOT NULL,
    claimed_at ${at} NOT NULL, checked_at ${at} NULL,
    PRIMARY KEY (domain), KEY receiving_claims_domain (domain_id),
    FOREIGN KEY (domain_id) REFERENCES domains (id) ON DELETE CASCADE`,
  mailboxes: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL, domain_id ${id} NOT NULL,
    local_part VARCHAR(64) NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY mailboxes_address (domain_id, local_part), KEY mailboxes_organization (organization_id),
    FOREIGN KEY (domain_id) REFERENCES domains (id)`,
  local_records: `
    id ${id} NOT NULL, type ${word} NOT NULL, name VARCHAR(320) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    value TEXT NOT NULL, priority SMALLINT UNSIGNED NULL, ttl INT UNSIGNED NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id), KEY local_records_name (name, type)`,

  blobs: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, sha256 BINARY(32) NOT NULL, size BIGINT UNSIGNED NOT NULL,
    complete ${flag} NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY blobs_content (organization_id, sha256)`,
  blob_chunks: `
    blob_id ${id} NOT NULL, position INT UNSIGNED NOT NULL, bytes MEDIUMBLOB NOT NULL,
    PRIMARY KEY (blob_id, position)`,

  emails: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL, domain_id ${id} NOT NULL,
    api_key_id ${id} NULL, created_at ${at} NOT NULL, scheduled_at ${at} NULL, expires_at ${at} NOT NULL,
    status ${word} NOT NULL, message_id VARCHAR(320) NOT NULL, thread_id ${id} NOT NULL,
    from_address VARCHAR(320) NOT NULL, from_header VARCHAR(800) NOT NULL,
    to_addresses TEXT NOT NULL, cc_addresses TEXT NOT NULL, bcc_addresses TEXT NOT NULL, reply_to TEXT NOT NULL,
    subject VARCHAR(998) NOT NULL, tags TEXT NOT NULL, metadata MEDIUMTEXT NOT NULL, template VARCHAR(120) NULL,
    attachments TEXT NOT NULL, attachment_count TINYINT UNSIGNED NOT NULL, blob_id ${id} NOT NULL,
    provider VARCHAR(32) CHARACTER SET ascii NOT NULL, provider_message_id VARCHAR(320) NULL,
    sent_at ${at} NULL, last_event_at ${at} NOT NULL, error TEXT NULL,
    PRIMARY KEY (id), UNIQUE KEY emails_created (organization_id, created_at),
    KEY emails_brand (brand_id, created_at), KEY emails_domain (domain_id, status)`,
  email_recipients: `
    email_id ${id} NOT NULL, position TINYINT UNSIGNED NOT NULL, organization_id ${id} NOT NULL,
    email VARCHAR(320) NOT NULL, type ${word} NOT NULL, status ${word} NOT NULL,
    smtp_code SMALLINT UNSIGNED NULL, enhanced_code VARCHAR(12) CHARACTER SET ascii NULL, detail TEXT NULL,
    updated_at ${at} NOT NULL,
    PRIMARY KEY (email_id, position)`,
  email_events: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, email_id ${id} NOT NULL, recipient VARCHAR(320) NULL,
    type ${word} NOT NULL, occurred_at ${at} NOT NULL, recorded_at ${at} NOT NULL,
    source VARCHAR(24) CHARACTER SET ascii NOT NULL, smtp_code SMALLINT UNSIGNED NULL,
    enhanced_code VARCHAR(12) CHARACTER SET ascii NULL, detail TEXT NULL, bounce TEXT NULL, extra TEXT NOT NULL,
    repeat_key BINARY(32) NULL,
    PRIMARY KEY (id), KEY email_events_email (email_id, id), UNIQUE KEY email_events_repeat (repeat_key)`,
  outbox: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, email_id ${id} NOT NULL, position TINYINT UNSIGNED NOT NULL,
    destination ${domain} NOT NULL, due_at ${at} NOT NULL, lease ${token} NULL, attempts INT UNSIGNED NOT NULL,
    expires_at ${at} NOT NULL, last_reply TEXT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (id), UNIQUE KEY outbox_recipient (email_id, position),
    KEY outbox_lane (organization_id, destination, due_at), KEY outbox_due (due_at)`,
  suppressions: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL, email VARCHAR(320) NOT NULL,
    reason ${word} NOT NULL, source_email_id ${id} NULL, evidence TEXT NULL, created_at ${at} NOT NULL, expires_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY suppressions_email (brand_id, email), KEY suppressions_organization (organization_id, id),
    FOREIGN KEY (brand_id) REFERENCES brands (id)`,

  messages: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, brand_id ${id} NOT NULL, mailbox_id ${id} NULL,
    folder ${word} NOT NULL, folder_reason VARCHAR(64) CHARACTER SET ascii NOT NULL, starred ${flag} NOT NULL,
    is_read ${flag} NOT NULL, received_at ${at} NOT NULL, size BIGINT UNSIGNED NOT NULL, blob_id ${id} NOT NULL,
    sameness BINARY(32) NOT NULL, mail_from VARCHAR(320) NOT NULL, rcpt_to VARCHAR(320) NOT NULL,
    remote_ip VARCHAR(45) CHARACTER SET ascii NOT NULL, helo VARCHAR(255) NOT NULL, tls VARCHAR(64) NULL,
    smtputf8 ${flag} NOT NULL, message_id VARCHAR(998) NULL, thread_id ${id} NOT NULL, in_reply_to VARCHAR(998) NULL,
    in_reply_to_email_id ${id} NULL, from_address VARCHAR(320) NOT NULL, from_name VARCHAR(256) NOT NULL,
    to_addresses TEXT NOT NULL, subject VARCHAR(998) NOT NULL, preview VARCHAR(200) NOT NULL,
    attachment_count SMALLINT UNSIGNED NOT NULL, verdicts TEXT NOT NULL,
    spf ${word} NOT NULL, dkim ${word} NOT NULL, dmarc ${word} NOT NULL,
    scan ${word} NOT NULL, scan_signature VARCHAR(255) NULL, rescan_at ${at} NULL, release_folder ${word} NULL,
    indexed ${flag} NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    KEY messages_organization (organization_id, folder, received_at, id), KEY messages_brand (brand_id, folder, received_at, id),
    KEY messages_mailbox (mailbox_id, folder, received_at, id), KEY messages_unread (mailbox_id, folder, is_read),
    KEY messages_sameness (mailbox_id, sameness), KEY messages_rescan (rescan_at), KEY messages_unindexed (indexed, id),
    KEY messages_thread (thread_id, received_at, id), KEY messages_answers (in_reply_to_email_id),
    FOREIGN KEY (mailbox_id) REFERENCES mailboxes (id) ON DELETE SET NULL`,
  attachments: `
    id ${id} NOT NULL, organization_id ${id} NOT NULL, message_id ${id} NOT NULL, position SMALLINT UNSIGNED NOT NULL,
    filename VARCHAR(255) NOT NULL, content_type VARCHAR(255) NOT NULL, size BIGINT UNSIGNED NOT NULL,
    content_id VARCHAR(255) NULL, disposition VARCHAR(32) NOT NULL, sha256 BINARY(32) NOT NULL,
    scan ${word} NOT NULL, scan_signature VARCHAR(255) NULL,
    PRIMARY KEY (id), UNIQUE KEY attachments_position (message_id, position)`,
  thread_references: `
    brand_id ${id} NOT NULL, reference BINARY(16) NOT NULL, thread_id ${id} NOT NULL, email_id ${id} NULL,
    PRIMARY KEY (brand_id, reference)`,
}

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [name, columns] of Object.entries(tables))
    await sql
      .raw(
        `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
      )
      .execute(db)
}
