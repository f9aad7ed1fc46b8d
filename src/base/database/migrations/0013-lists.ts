import { type Kysely, sql } from 'kysely'
import { addColumns, addIndexes } from '../migration-steps.ts'

const columns = [['domains', 'enrolled_with', 'VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL']] as const

/** Each list goes along one of its own, whatever it is filtered by; what has had its time is found by another. */
const indexes = [
  ['suppressions', 'suppressions_brand_reason', 'brand_id, reason, id'],
  ['suppressions', 'suppressions_expiry', 'expires_at'],
  ['templates', 'templates_brand', 'brand_id, id'],
  ['members', 'members_organization', 'organization_id, id'],
  ['invitations', 'invitations_open', 'organization_id, accepted_at, revoked_at, expires_at, id'],
  ['invitations', 'invitations_expiry', 'expires_at'],
] as const

/** The domains that SES knows already, by the region of its MAIL FROM record. */
const enrolments = `
  UPDATE domains INNER JOIN domain_records ON domain_records.domain_id = domains.id
  SET domains.enrolled_with = CONCAT('ses ', SUBSTRING_INDEX(SUBSTRING(domain_records.value, 15), '.', 1))
  WHERE domains.enrolled_with IS NULL AND domain_records.purpose = 'return_path' AND domain_records.type = 'MX'
    AND domain_records.value LIKE 'feedback-smtp.%.amazonses.com'`

export async function up(db: Kysely<never>): Promise<void> {
  await addColumns(db, columns)
  await addIndexes(db, indexes)
  await sql.raw(enrolments).execute(db)
}
