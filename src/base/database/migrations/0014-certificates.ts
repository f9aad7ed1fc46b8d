import type { Kysely } from 'kysely'
import { addTables } from '../migration-steps.ts'

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin'
const name = `VARCHAR(253) ${ascii}`
const at = 'DATETIME(6)'

const tables = {
  certificates: `
    name ${name} NOT NULL, fingerprint CHAR(64) ${ascii} NULL, chain MEDIUMTEXT NULL,
    private_key TEXT NULL, sealed_by CHAR(16) ${ascii} NULL, not_before ${at} NULL, not_after ${at} NULL,
    next_attempt_at ${at} NOT NULL, lease CHAR(26) ${ascii} NULL, failures SMALLINT UNSIGNED NOT NULL DEFAULT 0,
    last_error TEXT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (name)`,
  acme_accounts: `
    directory VARCHAR(255) ${ascii} NOT NULL, private_key TEXT NOT NULL, sealed_by CHAR(16) ${ascii} NOT NULL,
    created_at ${at} NOT NULL,
    PRIMARY KEY (directory)`,
  acme_challenges: `
    token VARCHAR(128) ${ascii} NOT NULL, key_authorization VARCHAR(255) ${ascii} NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (token)`,
  mta_sts_policies: `
    domain ${name} NOT NULL, mode VARCHAR(16) ${ascii} NOT NULL, policy_id CHAR(26) ${ascii} NOT NULL,
    changed_at ${at} NOT NULL,
    PRIMARY KEY (domain), FOREIGN KEY (domain) REFERENCES receiving_claims (domain) ON DELETE CASCADE`,
}

export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
}
