import { type Kysely, sql } from 'kysely'

const at = 'DATETIME(6)'

/** What recipients see as the Message-ID where the provider replaces ours, and what a provider may tell once only. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(
      `CREATE TABLE IF NOT EXISTS provider_tokens (
        token_hash BINARY(32) NOT NULL, content_hash BINARY(32) NOT NULL, created_at ${at} NOT NULL,
        PRIMARY KEY (token_hash), KEY provider_tokens_age (created_at)
      ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin`,
    )
    .execute(db)
  // MySQL has no ADD COLUMN IF NOT EXISTS.
  const { rows } = await sql`SELECT 1 FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'emails' AND column_name = 'wire_message_id'`.execute(db)
  if (rows.length === 0) await sql.raw('ALTER TABLE emails ADD COLUMN wire_message_id VARCHAR(998) NULL').execute(db)
}
