import type { Reservation } from '../../../api/idempotency/reservation.ts'
import { storeResponse } from '../../../api/idempotency/store.ts'
import type { Tenant } from '../../../api/tenant.ts'
import { hourMs, plusMs } from '../../../base/clock.ts'
import { type Db, inTransaction } from '../../../base/database/database.ts'
import { newSortableToken, stableToken } from '../../../base/ids.ts'
import { Refusal, refuse } from '../../../base/refusal.ts'
import type { ExistingRecord, ZoneRecord } from '../../../ports/dns-zone/port.ts'
import { applyCheckResults } from '../../check.ts'
import type { DomainDeps } from '../../deps.ts'
import { domainRefusals, loadDomain } from '../../load-domain.ts'
import { checkOwnership, ownershipRefusals, requireOwnership } from '../../ownership.ts'
import { type DomainRow, lockDomain } from '../../table.ts'
import { requestMark } from '../record-owner.ts'
import type { ManagedRecordJson } from '../schema.ts'
import { openZone, type ZoneAccess, zoneRefusals } from '../zone-access.ts'
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
import { isEqual, recordConflictRefusals, requireRoom, takeWritten } from './record-conflicts.ts'
import { deleteRemoval, hasRemoval, insertRemoval } from './table.ts'

/** For longer than an answer is kept for a repeated request. */
const removalKeptMs = 48 * hourMs

/** The refusals of {@link listRecords}, which every other operation on records has too. */
export const listRecordsRefusals = [...domainRefusals, ...zoneRefusals, ...ownershipRefusals] as const

/**
 * The records that stand at and below the domain in its zone, whoever made them.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_cursor`, and as {@link openProven}.
 */
export async function listRecords(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  query: ManagedRecordQuery,
): Promise<ManagedRecordPage> {
  const domain = await loadDomain(deps.db, tenant, id)
  const access = await openZone(deps.zone, domain.domain)
  requireOwnership(await checkOwnership(deps.resolver, tenant.organizationId, domain.domain))
  return listRecordPage(deps.db, tenant, domain.domain, access, query)
}

/** The refusals of {@link createRecord}. */
export const createRecordRefusals = [
  ...listRecordsRefusals,
  ...recordNameRefusals,
  ...recordValueRefusals,
  ...recordConflictRefusals,
] as const

/**
 * Publishes a record of the person's own. A retry under the same Idempotency-Key takes up the record that the attempt
 * before it made.
 * @throws Refusal `not_found`, `brand_restricted`, `invalid_request`, `dns_name_not_allowed`, `dns_record_conflict`, and as
 * {@link openProven}.
 */
export async function createRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  wanted: NewRecord,
  reservation?: Reservation,
): Promise<ManagedRecordJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const record = parseRecord(wanted, domain.domain)
  await requireAllowedName(deps.db, tenant, domain.domain, record.name)
  const access = await openProven(deps, domain)
  await requireRoom(access, record)
  const mark = requestMark(reservation ? stableToken(JSON.stringify([domain.id, reservation.key])) : newSortableToken())
  const made = takeWritten(record, await access.zone.create(record, mark), held => held.mark === mark)
  const shape = toJsonManagedRecord(access, made, false)
  const undo = () => access.zone.remove(made.id)
  await settle(deps, { tenant, domain, name: record.name, undo, status: 201, shape, reservation })
  return shape
}

/** The refusals of {@link changeRecord}. */
export const changeRecordRefusals = [...createRecordRefusals, 'record_managed'] as const

/**
 * Changes what is given of a record; its type stays.
 * @throws Refusal `not_found`, `brand_restricted`, `record_managed`, `invalid_request`, `dns_name_not_allowed`,
 * `dns_record_conflict`, and as {@link openProven}.
 */
export async function changeRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  recordId: string,
  change: RecordChange,
  reservation?: Reservation,
): Promise<ManagedRecordJson> {
  const domain = await loadDomain(deps.db, tenant, id)
  const access = await openProven(deps, domain)
  const before = await ownRecord(
    deps.db,
    tenant,
    domain,
    recordId,
    await findRecordById(access, domain.domain, recordId),
  )
  const record = applyRecordChange(before, change, domain.domain)
  await requireAllowedName(deps.db, tenant, domain.domain, record.name)
  const after = isEqual(before, record) ? before : await rewrite(access, before, record)
  const shape = toJsonManagedRecord(access, after, false)
  const undo = async () => void (await access.zone.update(before.id, before, before.mark))
  await settle(deps, { tenant, domain, name: record.name, undo, status: 200, shape, reservation })
  return shape
}

async function rewrite(access: ZoneAccess, before: ExistingRecord, record: ZoneRecord): Promise<ExistingRecord> {
  await requireRoom(access, record, before.id)
  const written = await access.zone.update(before.id, record, before.mark)
  if (!written) throw noRecord(apiRecordId(access, before))
  return takeWritten(record, written, held => held.id === before.id)
}

/** The refusals of {@link removeRecord}. */
export const removeRecordRefusals = [...listRecordsRefusals, 'record_managed'] as const

/**
 * Takes a record out of the zone. The intent of a request with an Idempotency-Key is kept, by which its retry knows that it
 * is the one that made the record disappear.
 * @throws Refusal `not_found`, `brand_restricted`, `record_managed`, and as {@link openProven}.
 */
export async function removeRecord(
  deps: DomainDeps,
  tenant: Tenant,
  id: string,
  recordId: string,
  reservation?: Reservation,
): Promise<{ id: string; deleted: true }> {
  const domain = await loadDomain(deps.db, tenant, id)
  const access = await openProven(deps, domain)
  const found = await findRecordById(access, domain.domain, recordId)
  const isGone = found === undefined && reservation && (await hasRemoval(deps.db, reservation, recordId))
  if (!isGone) {
    const record = await ownRecord(deps.db, tenant, domain, recordId, found)
    if (reservation) {
      const at = deps.clock.now()
      await insertRemoval(deps.db, reservation, apiRecordId(access, record), at, plusMs(at, -removalKeptMs))
    }
    await access.zone.remove(record.id)
  }
  const removed = { id: recordId, deleted: true } as const
  await inTransaction(deps.db, async tx => {
    if (reservation) await deleteRemoval(tx, reservation, recordId)
    await storeResponse(tx, reservation, { status: 200, body: removed, at: deps.clock.now() })
  })
  return removed
}

/**
 * The zone in which the domain's records may be changed now: DNS shows at this moment that it is the organization's.
 * @throws Refusal `dns_provider_not_configured`, `dns_zone_not_accessible`, `dns_provider_error`,
 * `ownership_not_verified`, `dns_unavailable`.
 */
async function openProven(deps: DomainDeps, domain: DomainRow): Promise<ZoneAccess> {
  const access = await openZone(deps.zone, domain.domain)
  const proof = await checkOwnership(deps.resolver, domain.organization_id, domain.domain)
  await applyCheckResults(deps, domain, proof, [])
  requireOwnership(proof)
  return access
}

/** The record, where the tenant may see it and it is theirs to change. @throws Refusal `not_found`, `record_managed`. */
async function ownRecord(
  db: Db,
  tenant: Tenant,
  domain: DomainRow,
  id: string,
  found: ExistingRecord | undefined,
): Promise<ExistingRecord> {
  const [record] = found ? await allowedRecords(db, tenant, domain.domain, [found]) : []
  if (!record) throw noRecord(id)
  if (await isManaged(db, record))
    throw refuse('record_managed', {
      message: `The ${record.type} record ${record.name} is published by Mailroom for a registered domain, which needs it.`,
    })
  return record
}

function noRecord(id: string): Refusal {
  return refuse('not_found', { message: `There is no DNS record ${id} of this domain.` })
}

/** A record as it was written to the zone. */
interface ZoneWrite {
  readonly tenant: Tenant
  readonly domain: DomainRow
  readonly name: string
  readonly undo: () => Promise<void>
  readonly status: number
  readonly shape: ManagedRecordJson
  readonly reservation: Reservation | undefined
}

/**
 * Ends a write: keeps its answer, unless meanwhile the domain was deleted or somebody registered a longer domain that holds
 * the name; then the write is undone.
 */
async function settle(deps: DomainDeps, write: ZoneWrite): Promise<void> {
  const { tenant, domain, name, status, shape, reservation } = write
  try {
    await inTransaction(deps.db, async tx => {
      if (!(await lockDomain(tx, domain.organization_id, domain.id)))
        throw refuse('not_found', { message: `There is no domain ${domain.id}.` })
      await requireAllowedName(tx, tenant, domain.domain, name)
      await storeResponse(tx, reservation, { status, body: shape, at: deps.clock.now() })
    })
  } catch (error) {
    const isOutOfReach =
      error instanceof Refusal && (error.code === 'not_found' || error.code === 'dns_name_not_allowed')
    if (isOutOfReach) await write.undo()
    throw error
  }
}
