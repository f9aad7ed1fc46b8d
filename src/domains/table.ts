import { type Selectable, sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db } from '../base/database/database.ts'
import { type DatabaseSchema, type Flag, toJson } from '../base/database/schema.ts'
import { type Id, newId } from '../base/ids.ts'
import type { RecordCheck } from './dns/check-record.ts'
import type { ExpectedRecord } from './dns/records.ts'

export type DomainRow = Omit<Selectable<DatabaseSchema['domains']>, 'next_check_at' | 'checks_unchanged'>
export type DomainRecordRow = Omit<Selectable<DatabaseSchema['domain_records']>, 'checked_at'>
export type ReceivingClaimRow = Selectable<DatabaseSchema['receiving_claims']>

export const domainColumns = [
  'id',
  'organization_id',
  'brand_id',
  'domain',
  'status',
  'ownership_verified',
  'provider_error',
  'last_checked_at',
  'created_at',
  'misses',
  'enrolled_with',
] as const

export async function selectDomain(db: Db, organizationId: Id<'org'>, id: string): Promise<DomainRow | undefined> {
  return db
    .selectFrom('domains')
    .select(domainColumns)
    .where('id', '=', id as Id<'dom'>)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
}

/** The domain, locked until the transaction ends. */
export async function lockDomain(db: Db, organizationId: Id<'org'>, id: Id<'dom'>): Promise<DomainRow | undefined> {
  return db
    .selectFrom('domains')
    .select(domainColumns)
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .forUpdate()
    .executeTakeFirst()
}

export async function selectDomainByName(
  db: Db,
  organizationId: Id<'org'>,
  domain: string,
): Promise<DomainRow | undefined> {
  return db
    .selectFrom('domains')
    .select(domainColumns)
    .where('organization_id', '=', organizationId)
    .where('domain', '=', domain)
    .executeTakeFirst()
}

/** The domains with this name in all organizations. */
export async function selectDomainsNamed(db: Db, domain: string): Promise<readonly DomainRow[]> {
  return db.selectFrom('domains').select(domainColumns).where('domain', '=', domain).orderBy('id').execute()
}

/** All domains of the organization, or of one of its brands, by name. */
export async function selectDomains(
  db: Db,
  organizationId: Id<'org'>,
  brandId: Id<'brd'> | null,
): Promise<readonly DomainRow[]> {
  let query = db.selectFrom('domains').select(domainColumns).where('organization_id', '=', organizationId)
  if (brandId !== null) query = query.where('brand_id', '=', brandId)
  return query.orderBy('domain').execute()
}

/** @throws a duplicate on `domains_domain` when the organization has the domain already. */
export async function insertDomain(db: Db, row: DomainRow, nextCheckAt: Instant): Promise<void> {
  await db
    .insertInto('domains')
    .values({ ...row, next_check_at: nextCheckAt })
    .execute()
}

export async function updateDomain(
  db: Db,
  id: Id<'dom'>,
  change: Partial<
    Pick<DomainRow, 'status' | 'ownership_verified' | 'provider_error' | 'last_checked_at' | 'misses' | 'enrolled_with'>
  >,
): Promise<void> {
  await db.updateTable('domains').set(change).where('id', '=', id).execute()
}

/** Deletes the domain with its records, keys and receiving claim. */
export async function deleteDomain(db: Db, id: Id<'dom'>): Promise<void> {
  await db.deleteFrom('domains').where('id', '=', id).execute()
}

/** The stored records of these domains, oldest first. */
export async function selectRecords(db: Db, domainIds: readonly Id<'dom'>[]): Promise<readonly DomainRecordRow[]> {
  if (domainIds.length === 0) return []
  return db
    .selectFrom('domain_records')
    .select([
      'id',
      'domain_id',
      'purpose',
      'type',
      'name',
      'value',
      'priority',
      'required',
      'status',
      'found',
      'detail',
    ])
    .where('domain_id', 'in', domainIds)
    .orderBy('id')
    .execute()
}

/** The stored record in the form in which it is compared with DNS and published. */
export function toExpectedRecord(row: DomainRecordRow): ExpectedRecord<DomainRecordRow['purpose']> {
  const { purpose, type, name, value, priority } = row
  return { purpose, type, name, value, priority, required: row.required === 1 }
}

/** Inserts an expected record or updates its value; a changed value makes it pending again. */
export async function upsertRecord(
  db: Db,
  domainId: Id<'dom'>,
  record: ExpectedRecord<DomainRecordRow['purpose']>,
): Promise<void> {
  const { purpose, type, name, value, priority } = record
  const required: Flag = record.required ? 1 : 0
  await db
    .insertInto('domain_records')
    .values({
      id: newId('rec'),
      domain_id: domainId,
      purpose,
      type,
      name,
      value,
      priority,
      required,
      status: 'pending',
      found: toJson([]),
      checked_at: null,
    })
    .onDuplicateKeyUpdate({
      // Assignments are evaluated from left to right: the status compares with the old value.
      status: sql`IF(value = ${value}, status, 'pending')`,
      detail: sql`IF(value = ${value}, detail, NULL)`,
      value,
      priority,
      required,
    })
    .execute()
}

/** Deletes the stored records of this purpose. */
export async function deleteRecords(db: Db, domainId: Id<'dom'>, purpose: DomainRecordRow['purpose']): Promise<void> {
  await db.deleteFrom('domain_records').where('domain_id', '=', domainId).where('purpose', '=', purpose).execute()
}

/** Deletes one stored record. */
export async function deleteRecord(
  db: Db,
  domainId: Id<'dom'>,
  purpose: DomainRecordRow['purpose'],
  name: string,
): Promise<void> {
  await db
    .deleteFrom('domain_records')
    .where('domain_id', '=', domainId)
    .where('purpose', '=', purpose)
    .where('name', '=', name)
    .execute()
}

export async function updateRecordCheck(
  db: Db,
  recordId: Id<'rec'>,
  { status, found, detail }: RecordCheck,
  at: Instant,
): Promise<void> {
  await db
    .updateTable('domain_records')
    .set({ status, found: toJson(found), detail: detail ?? null, checked_at: at })
    .where('id', '=', recordId)
    .execute()
}

const claimColumns = [
  'domain',
  'organization_id',
  'domain_id',
  'identity_verified',
  'identity_error',
  'mx_verified',
  'claimed_at',
  'checked_at',
  'mx_misses',
] as const

/** The receiving claim on this name, of any organization. */
export async function selectClaim(db: Db, domain: string): Promise<ReceivingClaimRow | undefined> {
  return db.selectFrom('receiving_claims').select(claimColumns).where('domain', '=', domain).executeTakeFirst()
}

/** The receiving claims of these domains. */
export async function selectClaims(db: Db, domainIds: readonly Id<'dom'>[]): Promise<readonly ReceivingClaimRow[]> {
  if (domainIds.length === 0) return []
  return db.selectFrom('receiving_claims').select(claimColumns).where('domain_id', 'in', domainIds).execute()
}

/** @throws a duplicate on `PRIMARY` when the name is claimed already */
export async function insertClaim(db: Db, row: ReceivingClaimRow): Promise<void> {
  await db.insertInto('receiving_claims').values(row).execute()
}

export async function updateClaim(
  db: Db,
  domainId: Id<'dom'>,
  change: Partial<
    Pick<ReceivingClaimRow, 'identity_verified' | 'identity_error' | 'mx_verified' | 'mx_misses' | 'checked_at'>
  >,
): Promise<void> {
  await db.updateTable('receiving_claims').set(change).where('domain_id', '=', domainId).execute()
}

/** Has the organization verified a domain with one of these names, for sending or receiving? */
export async function hasVerifiedDomain(db: Db, organizationId: Id<'org'>, names: readonly string[]): Promise<boolean> {
  if (names.length === 0) return false
  const found = await db
    .selectFrom('domains')
    .leftJoin('receiving_claims', 'receiving_claims.domain_id', 'domains.id')
    .select('domains.id')
    .where('domains.organization_id', '=', organizationId)
    .where('domains.domain', 'in', names)
    .where('domains.ownership_verified', '=', 1)
    .where(expressionBuilder =>
      expressionBuilder.or([
        expressionBuilder('domains.status', '=', 'verified'),
        expressionBuilder('receiving_claims.identity_verified', '=', 1),
      ]),
    )
    .executeTakeFirst()
  return found !== undefined
}
