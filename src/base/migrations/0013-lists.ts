import { type Kysely, sql } from 'kysely'

const columns: readonly (readonly [table: string, name: string, type: string])[] = [
  ['domains', 'enrolled_with', 'VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL'],
]

/** Each list goes along one of its own, whatever it is filtered by; what has had its time is found by another. */
const indexes: readonly (readonly [table: string, name: string, columns: string])[] = [
  ['suppressions', 'suppressions_brand_reason', 'brand_id, reason, id'],
  ['suppressions', 'suppressions_expiry', 'expires_at'],
  ['templates', 'templates_brand', 'brand_id, id'],
  ['members', 'members_organization', 'organization_id, id'],
  ['invitations', 'invitations_open', 'organization_id, accepted_at, revoked_at, expires_at, id'],
  ['invitations', 'invitations_expiry', 'expires_at'],
]

/** The domains that SES knows already, by the region of its MAIL FROM record. */
const enrolments = `
  UPDATE domains INNER JOIN domain_records ON domain_records.domain_id = domains.id
  SET domains.enrolled_with = CONCAT('ses ', SUBSTRING_INDEX(SUBSTRING(domain_records.value, 15), '.', 1))
  WHERE domains.enrolled_with IS NULL AND domain_records.purpose = 'return_path' AND domain_records.type = 'MX'
    AND domain_records.value LIKE 'feedback-smtp.%.amazonses.com'`

/** Each step is one statement that may be run again: DDL is not transactional. */
export async function up(db: Kysely<never>): Promise<void> {
  for (const [table, name, type] of columns)
    if (!(await isThere(db, 'columns', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`).execute(db)
  for (const [table, name, of] of indexes)
    if (!(await isThere(db, 'statistics', table, name)))
      await sql.raw(`ALTER TABLE ${table} ADD KEY ${name} (${of})`).execute(db)
  await sql.raw(enrolments).execute(db)
}

/** MySQL has no ADD COLUMN IF NOT EXISTS. */
async function isThere(
  db: Kysely<never>,
  kind: 'columns' | 'statistics',
  table: string,
  name: string,
): Promise<boolean> {
  const named = kind === 'columns' ? sql.ref('column_name') : sql.ref('index_name')
  const { rows } = await sql`SELECT 1 FROM ${sql.table(`information_schema.${kind}`)}
    WHERE table_schema = DATABASE() AND table_name = ${table} AND ${named} = ${name} LIMIT 1`.execute(db)
  return rows.length > 0
}
