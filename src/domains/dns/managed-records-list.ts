import type { Owner } from '../../accounts/brands/brands.ts'
import { cursorOf, pageSize, readCursor } from '../../api/page.ts'
import { toIso } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import { type Id, stableToken } from '../../base/ids.ts'
import type { HeldRecord } from '../../ports/dns-zone/port.ts'
import { registeredIds } from './managed-records-table.ts'
import { withinReach } from './name-permission.ts'
import { makerOf } from './record-owner.ts'
import type { ManagedRecordShape } from './schema.ts'
import type { ZoneAccess } from './zone-access.ts'

export interface RecordQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

/** A page of a domain's records, by name, type and id. */
export interface RecordPage {
  data: ManagedRecordShape[]
  next_cursor: string | null
}

/** @throws Refusal `invalid_cursor`, `dns_provider_error`. */
export async function pageOfRecords(
  db: Db,
  owner: Owner,
  domain: string,
  access: ZoneAccess,
  query: RecordQuery,
): Promise<RecordPage> {
  const size = pageSize(query.limit)
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, 3)
  const found = await withinReach(db, owner, domain, await access.zone.under(domain))
  const rows = found
    .map(record => ({ record, place: [record.name, record.type, recordIdOf(access, record)] as const }))
    .filter(({ place }) => after === undefined || compare(place, after) > 0)
    .toSorted((one, other) => compare(one.place, other.place))
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return {
    data: await showRecords(
      db,
      access,
      page.map(({ record }) => record),
    ),
    next_cursor: rows.length > size && last ? cursorOf(...last.place) : null,
  }
}

function compare(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((part, i) => part !== other[i])
  return at === -1 ? 0 : (one[at] ?? '') < (other[at] ?? '') ? -1 : 1
}

/** The id that the API gives a record: the provider's own, in a form that tells nothing. */
export function recordIdOf({ provider, zone }: ZoneAccess, { id }: Pick<HeldRecord, 'id'>): Id<'rec'> {
  return `rec_${stableToken(JSON.stringify([provider, zone.apex, id]))}`
}

/** Did Mailroom publish this record for a domain that is still registered, here or in another organization? */
export async function isManaged(db: Db, record: HeldRecord): Promise<boolean> {
  const maker = makerOf(record)
  return maker.kind === 'mailroom' && (await registeredIds(db, [maker.domainId])).has(maker.domainId)
}

async function showRecords(db: Db, access: ZoneAccess, records: readonly HeldRecord[]): Promise<ManagedRecordShape[]> {
  const makers = records.map(makerOf)
  const domainIds = makers.flatMap(each => (each.kind === 'mailroom' ? [each.domainId] : []))
  const registered = await registeredIds(db, [...new Set(domainIds)])
  return records.map((record, i) => {
    const maker = makers[i]
    return showRecord(access, record, maker?.kind === 'mailroom' && registered.has(maker.domainId))
  })
}

export function showRecord(access: ZoneAccess, record: HeldRecord, isOurs: boolean): ManagedRecordShape {
  const { type, name, value, ttlSeconds, priority, createdAt, updatedAt } = record
  return {
    id: recordIdOf(access, record),
    type,
    name,
    value,
    ttl: ttlSeconds,
    priority,
    managed_by: isOurs ? 'mailroom' : 'user',
    created_at: createdAt && toIso(createdAt),
    updated_at: updatedAt && toIso(updatedAt),
  }
}

/** The record with this id among those of a domain's names; undefined when none has it. */
export async function recordById(access: ZoneAccess, domain: string, id: string): Promise<HeldRecord | undefined> {
  return (await access.zone.under(domain)).find(each => recordIdOf(access, each) === id)
}
