import type { Kysely } from 'kysely'
import { addColumns, addIndexes, addTables, dropIndexes } from '../migration-steps.ts'

const ascii = 'CHARACTER SET ascii COLLATE ascii_bin'
const id = `CHAR(30) ${ascii}`
const at = 'DATETIME(6)'
const hash = 'BINARY(32)'
const ofUser = 'FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE'

const tables = {
  users: `
    id ${id} NOT NULL, email VARCHAR(320) NOT NULL, name VARCHAR(256) NOT NULL, password_hash VARCHAR(255) ${ascii} NULL,
    totp_secret TEXT ${ascii} NULL, totp_sealed_by CHAR(16) ${ascii} NULL, totp_step BIGINT UNSIGNED NULL,
    created_at ${at} NOT NULL, last_sign_in_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY users_email (email)`,
  passkeys: `
    id ${id} NOT NULL, user_id ${id} NOT NULL, name VARCHAR(256) NOT NULL, credential_id VARBINARY(1023) NOT NULL,
    public_key VARBINARY(2048) NOT NULL, sign_count BIGINT UNSIGNED NOT NULL, transports VARCHAR(255) ${ascii} NOT NULL,
    host VARCHAR(253) ${ascii} NOT NULL, created_at ${at} NOT NULL, last_used_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY passkeys_credential (credential_id), KEY passkeys_user (user_id, id), ${ofUser}`,
  backup_codes: `
    user_id ${id} NOT NULL, code_hash ${hash} NOT NULL,
    PRIMARY KEY (user_id, code_hash), ${ofUser}`,
  sessions: `
    id ${id} NOT NULL, user_id ${id} NOT NULL, token_hash ${hash} NOT NULL, created_at ${at} NOT NULL,
    last_used_at ${at} NOT NULL, expires_at ${at} NOT NULL, confirmed_at ${at} NOT NULL, ip VARCHAR(45) ${ascii} NOT NULL,
    user_agent VARCHAR(255) NULL,
    PRIMARY KEY (id), KEY sessions_user (user_id, id), KEY sessions_expiry (expires_at), ${ofUser}`,
  login_links: `
    id ${id} NOT NULL, token_hash ${hash} NOT NULL, member_id ${id} NULL, user_id ${id} NULL, created_at ${at} NOT NULL,
    expires_at ${at} NOT NULL, used_at ${at} NULL,
    PRIMARY KEY (id), UNIQUE KEY login_links_token (token_hash), KEY login_links_expiry (expires_at),
    FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE, ${ofUser}`,
  passkey_challenges: `
    challenge_hash ${hash} NOT NULL, expires_at ${at} NOT NULL,
    PRIMARY KEY (challenge_hash), KEY passkey_challenges_expiry (expires_at)`,
  sign_in_failures: `
    subject_hash ${hash} NOT NULL, failures INT UNSIGNED NOT NULL, last_at ${at} NOT NULL,
    PRIMARY KEY (subject_hash), KEY sign_in_failures_age (last_at)`,
  operators: `
    user_id ${id} NOT NULL, created_at ${at} NOT NULL,
    PRIMARY KEY (user_id), ${ofUser}`,
}

/** People who sign in to the dashboard, how they prove who they are, what they did, and the indexes of its screens. */
export async function up(db: Kysely<never>): Promise<void> {
  await addTables(db, tables)
  await addColumns(db, [
    ['members', 'user_id', `${id} NULL`],
    ['audit_log', 'organization_id', `${id} NULL`],
    ['audit_log', 'ip', `VARCHAR(45) ${ascii} NULL`],
  ])
  await addIndexes(db, [
    ['members', 'members_user', 'user_id, organization_id'],
    ['audit_log', 'audit_log_organization', 'organization_id, id'],
    ['messages', 'messages_brand_unread', 'brand_id, folder, is_read, mailbox_id'],
    ['emails', 'emails_thread', 'thread_id, created_at'],
  ])
  // The one that counts the unread messages of a brand counts those of a mailbox too: filing a message writes no more than before.
  await dropIndexes(db, [['messages', 'messages_unread']])
}
