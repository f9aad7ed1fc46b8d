import type { Reservation } from '../../api/idempotency/reservation.ts'
import { storeResponse } from '../../api/idempotency/store.ts'
import { changedSinceRead, ifUpdatedAtRefusals, readIfUpdatedAt } from '../../api/if-updated-at.ts'
import type { Tenant } from '../../api/tenant.ts'
import { hourMs, type Instant, plusMs } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { newSortableToken, stableToken } from '../../base/ids.ts'
import { Refusal, refuse } from '../../base/refusal.ts'
import type { ExistingRecord, ZoneRecord } from '../../ports/dns-zone/port.ts'
import type { DomainDeps } from '../deps.ts'
import { requestMark } from '../dns/record-owner.ts'
import type { ManagedRecordJson } from '../dns/schema.ts'
import { openZone, type ZoneAccess, zoneRefusals } from '../dns/zone-access.ts'
import { domainRefusals, loadDomain } from '../load-domain.ts'
import { checkOwnership, ownershipRefusals, proveOwnership, requireOwnership } from '../ownership.ts'
import { type DomainRow, lockDomain } from '../table.ts'
import {
  apiRecordId,
  findRecordById,
  isManaged,
  listRecordPage,
  type ManagedRecordPage,
  type ManagedRecordQuery,
  toJsonManagedRecord,
} from './list.ts'
import { allowedRecords, recordNameRefusals, requireAllowedName } from './name-permission.ts'
import {
  applyRecordChange,
  type NewRecord,
  parseRecord,
  type RecordChange,
  recordValueRefusals,
} from './parse-record.ts'
import { isEqual, recordConflictRefusals, requireNoConflict, requireWritten } from './record-conflicts.ts'
import { deleteRemoval, hasRemoval, insertRemoval } from './table.ts'

/** Longer than a response is stored under its Idempotency-Key. */
const keepRemovalMs = 48 * hourMs

/** The refusals of {@link listRecords}, which every other operation on records has too. */
export const listRecordsRefusals = [...domainRefusals, ...zoneRefusals, ...ownershipRefusals] as const

/**
 * The records at and below the domain in its zone, whoever published them.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_cursor`, and as {@link openVerifiedZone}.
 */
export async function listRecords(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  query: ManagedRecordQuery,
): Promise<ManagedRecordPage> {
  const { domain, access } = await openZoneToRead(deps, tenant, id)
  return listRecordPage(deps.db, tenant, domain.domain, access, query)
}

/**
 * One record at or below the domain in its zone, whoever published it.
 * @throws Refusal `not_found`, `brand_restricted`, and as {@link openVerifiedZone}.
 */
export async function getRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  recordId: string,
): Promise<ManagedRecordJson> {
  const { domain, access } = await openZoneToRead(deps, tenant, id)
  const found = await findRecordById(access, domain.domain, recordId)
  const record = await requireVisibleRecord(deps.db, tenant, domain, recordId, found)
  return toJsonManagedRecord(access, record, await isManaged(deps.db, record))
}

/** A domain of the tenant's own, and the zone that it is in. */
async function openZoneToRead(deps: DomainDeps, tenant: Tenant, id: string) {
  const domain = await loadDomain(deps.db, tenant, id)
  const access = await openZone(deps.dnsProvider, domain.domain)
  requireOwnership(await checkOwnership(deps.resolver, tenant.organizationId, domain.domain))
  return { domain, access }
}

/** The refusals of {@link createRecord}. */
export const createRecordRefusals = [
  ...listRecordsRefusals,
  ...recordNameRefusals,
  ...recordValueRefusals,
  ...recordConflictRefusals,
] as const

/**
 * Publishes a record of the user's own. A retry under the same Idempotency-Key adopts the record that the earlier attempt
 * created.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`, `dns_name_not_allowed`, `dns_record_conflict`, and as
 * {@link openVerifiedZone}.
 */
export async function createRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  request: NewRecord,
  reservation?: Reservation,
): Promise<ManagedRecordJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const record = parseRecord(request, domain.domain)
  await requireAllowedName(deps.db, tenant, domain.domain, record.name)
  const access = await openVerifiedZone(deps, domain)
  await requireNoConflict(access, record)
  const mark = requestMark(reservation ? stableToken(JSON.stringify([domain.id, reservation.key])) : newSortableToken())
  const created = requireWritten(record, await access.zone.create(record, mark), existing => existing.mark === mark)
  const json = toJsonManagedRecord(access, created, false)
  const undo = () => access.zone.remove(created.id)
  await commitWrite(deps, { tenant, domain, name: record.name, undo, status: 201, json, reservation })
  return json
}

/** The refusals of {@link changeRecord}. */
export const changeRecordRefusals = [...createRecordRefusals, ...ifUpdatedAtRefusals, 'record_managed'] as const

/**
 * Changes the given fields of a record; its type cannot change. A record that is already as requested is left as it is: so
 * a retry finds what the earlier attempt wrote.
 * @throws Refusal `not_found`, `brand_restricted`, `record_managed`, `invalid_request`, `dns_name_not_allowed`,
 * `dns_record_conflict`, `changed_since_read`, and as {@link openVerifiedZone}.
 */
export async function changeRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  recordId: string,
  change: RecordChange,
  reservation?: Reservation,
): Promise<ManagedRecordJson> {
  const readAs = readIfUpdatedAt(change)
  const domain = await loadDomain(deps.db, tenant, id)
  const access = await openVerifiedZone(deps, domain)
  const before = await requireOwnRecord(
    deps.db,
    tenant,
    domain,
    recordId,
    await findRecordById(access, domain.domain, recordId),
  )
  const record = applyRecordChange(before, change, domain.domain)
  await requireAllowedName(deps.db, tenant, domain.domain, record.name)
  const after = isEqual(before, record) ? before : await rewrite(access, before, { record, readAs })
  const json = toJsonManagedRecord(access, after, false)
  const undo = async () => void (await access.zone.update(before.id, before, before.mark))
  await commitWrite(deps, { tenant, domain, name: record.name, undo, status: 200, json, reservation })
  return json
}

async function rewrite(
  access: ZoneAccess,
  before: ExistingRecord,
  { record, readAs }: { readonly record: ZoneRecord; readonly readAs: Instant | null | undefined },
): Promise<ExistingRecord> {
  await requireNoConflict(access, record, before.id)
  const written = await access.zone.update(before.id, record, before.mark, readAs)
  if (!written) throw noRecord(apiRecordId(access, before))
  if (written.kind === 'changed')
    throw changedSinceRead(`The ${before.type} record ${before.name}`, written.record.updatedAt)
  return requireWritten(record, written, existing => existing.id === before.id)
}

/** The refusals of {@link removeRecord}. */
export const removeRecordRefusals = [...listRecordsRefusals, 'record_managed'] as const

/**
 * Deletes a record from the zone. The intent of a request with an Idempotency-Key is stored first, so that its retry can
 * tell that the record is gone because of it.
 * @throws Refusal `not_found`, `brand_restricted`, `record_managed`, and as {@link openVerifiedZone}.
 */
export async function removeRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  recordId: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const domain = await loadDomain(deps.db, tenant, id)
  const access = await openVerifiedZone(deps, domain)
  const found = await findRecordById(access, domain.domain, recordId)
  const isGone = found === undefined && reservation && (await hasRemoval(deps.db, reservation, recordId))
  if (!isGone) {
    const record = await requireOwnRecord(deps.db, tenant, domain, recordId, found)
    if (reservation) {
      const at = deps.clock.now()
      await insertRemoval(deps.db, reservation, apiRecordId(access, record), at, plusMs(at, -keepRemovalMs))
    }
    await access.zone.remove(record.id)
  }
  const removed = { id: recordId, deleted: true } as const
  await inTransaction(deps.db, async tx => {
    if (reservation) await deleteRemoval(tx, reservation, recordId)
    await storeResponse(tx, reservation, { status: 200, body: removed })
  })
  return removed
}

/**
 * The zone that holds the domain, after verifying that DNS shows the organization's ownership at this moment.
 * @throws Refusal `dns_provider_not_configured`, `dns_zone_not_accessible`, `dns_provider_error`,
 * `ownership_not_verified`, `dns_unavailable`.
 */
async function openVerifiedZone(deps: DomainDeps, domain: DomainRow): Promise<ZoneAccess> {
  const access = await openZone(deps.dnsProvider, domain.domain)
  await proveOwnership(deps, domain)
  return access
}

/** The record, if the tenant may see it. @throws Refusal `not_found`. */
async function requireVisibleRecord(
  db: Db,
  tenant: Tenant,
  domain: DomainRow,
  id: string,
  found: ExistingRecord | undefined,
): Promise<ExistingRecord> {
  const [record] = found ? await allowedRecords(db, tenant, domain.domain, [found]) : []
  if (!record) throw noRecord(id)
  return record
}

/** The record, if the tenant may see and change it. @throws Refusal `not_found`, `record_managed`. */
async function requireOwnRecord(
  db: Db,
  tenant: Tenant,
  domain: DomainRow,
  id: string,
  found: ExistingRecord | undefined,
): Promise<ExistingRecord> {
  const record = await requireVisibleRecord(db, tenant, domain, id, found)
  if (await isManaged(db, record))
    throw refuse('record_managed', {
      message: `Mailroom publishes the ${record.type} record ${record.name} for a registered domain, which needs it.`,
    })
  return record
}

function noRecord(id: string): Refusal {
  return refuse('not_found', { message: `There is no DNS record ${id} of this domain.` })
}

/** A write that has reached the zone and is to be committed. */
interface ZoneWrite {
  readonly tenant: Tenant
  readonly domain: DomainRow
  readonly name: string
  readonly undo: () => Promise<void>
  readonly status: number
  readonly json: ManagedRecordJson
  readonly reservation: Reservation | undefined
}

/**
 * Commits a write by storing its response. If meanwhile the domain was deleted, or someone registered a subdomain that holds
 * the name, the write is undone instead.
 */
async function commitWrite(deps: DomainDeps, write: ZoneWrite): Promise<void> {
  const { tenant, domain, name, status, json, reservation } = write
  try {
    await inTransaction(deps.db, async tx => {
      if (!(await lockDomain(tx, domain.organization_id, domain.id)))
        throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
      await requireAllowedName(tx, tenant, domain.domain, name)
      await storeResponse(tx, reservation, { status, body: json })
    })
  } catch (error) {
    const isNoLongerAllowed =
      error instanceof Refusal && (error.code === 'not_found' || error.code === 'dns_name_not_allowed')
    if (isNoLongerAllowed) await write.undo()
    throw error
  }
}
