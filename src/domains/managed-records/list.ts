import { cutPage, decodeCursor, pageSize } from '../../api/page.ts'
import type { Tenant } from '../../api/tenant.ts'
import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, stableToken } from '../../base/ids.ts'
import type { ExistingRecord } from '../../ports/dns-zone/port.ts'
import { recordOwnerOf } from '../dns/record-owner.ts'
import type { ManagedRecordJson } from '../dns/schema.ts'
import type { ZoneAccess } from '../dns/zone-access.ts'
import { allowedRecords } from './name-permission.ts'
import { selectRegisteredIds } from './table.ts'

export interface ManagedRecordQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

/** A page of a domain's records, by name, type and id. */
export interface ManagedRecordPage {
  data: ManagedRecordJson[]
  next_cursor: string | null
}

/** One page of the records that the tenant may see. @throws Refusal `invalid_cursor`, `dns_provider_error`. */
export async function listRecordPage(
  db: Db,
  tenant: Tenant,
  domain: string,
  access: ZoneAccess,
  query: ManagedRecordQuery,
): Promise<ManagedRecordPage> {
  const size = pageSize(query.limit)
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, 3)
  const found = await allowedRecords(db, tenant, domain, await access.zone.recordsUnder(domain))
  const rows = found
    .map(record => ({ record, position: [record.name, record.type, apiRecordId(access, record)] as const }))
    .filter(({ position }) => after === undefined || compare(position, after) > 0)
    .toSorted((one, other) => compare(one.position, other.position))
  const { page, next_cursor } = cutPage(rows, size, ({ position }) => position)
  const records = page.map(({ record }) => record)
  return { data: await toJsonManagedRecords(db, access, records), next_cursor }
}

function compare(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((part, i) => part !== other[i])
  return at === -1 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
}

/** The record's id in the API: a hash of the provider's own id, which reveals nothing. */
export function apiRecordId({ provider, zone }: ZoneAccess, { id }: Pick<ExistingRecord, 'id'>): Id<'rec'> {
  return `rec_${stableToken(JSON.stringify([provider, zone.apex, id]))}`
}

/** Did Mailroom publish this record for a domain that is still registered, here or in another organization? */
export async function isManaged(db: Db, record: ExistingRecord): Promise<boolean> {
  const owner = recordOwnerOf(record)
  return owner.kind === 'mailroom' && (await selectRegisteredIds(db, [owner.domainId])).has(owner.domainId)
}

async function toJsonManagedRecords(
  db: Db,
  access: ZoneAccess,
  records: readonly ExistingRecord[],
): Promise<ManagedRecordJson[]> {
  const owners = records.map(recordOwnerOf)
  const domainIds = owners.flatMap(owner => (owner.kind === 'mailroom' ? [owner.domainId] : []))
  const registered = await selectRegisteredIds(db, [...new Set(domainIds)])
  return records.map((record, i) => {
    const owner = owners[i]
    return toJsonManagedRecord(access, record, owner?.kind === 'mailroom' && registered.has(owner.domainId))
  })
}

export function toJsonManagedRecord(
  access: ZoneAccess,
  record: ExistingRecord,
  isManagedByMailroom: boolean,
): ManagedRecordJson {
  const { type, name, value, ttlSeconds, priority, createdAt, updatedAt } = record
  return {
    id: apiRecordId(access, record),
    type,
    name,
    value,
    ttl: ttlSeconds,
    priority,
    managed_by: isManagedByMailroom ? 'mailroom' : 'user',
    created_at: createdAt && toIso(createdAt),
    updated_at: updatedAt && toIso(updatedAt),
  }
}

/** The record with this id at or below the domain; undefined: there is none. */
export async function findRecordById(
  access: ZoneAccess,
  domain: string,
  id: string,
): Promise<ExistingRecord | undefined> {
  return (await access.zone.recordsUnder(domain)).find(existingRecord => apiRecordId(access, existingRecord) === id)
}
