import type { Clock } from '../../../base/clock.ts'
import { newId } from '../../../base/ids.ts'
import { canonicalName, isInZone, isSameRecord, zoneNames } from '../names.ts'
import {
  type DnsProvider,
  DnsZoneError,
  type ExistingRecord,
  type WriteResult,
  type Zone,
  type ZoneRecord,
} from '../port.ts'
import type { ZoneLock } from '../zone-lock.ts'
import { type PowerDnsAddress, type PowerDnsApi, type PowerDnsZone, powerDnsApi, type RrSet } from './api.ts'
import { contentOf, contentToken, type PlacedRecord, type RecordNote, readSets, withRecords } from './rrsets.ts'

export interface PowerDnsOptions extends PowerDnsAddress {
  readonly clock: Clock
  /** PowerDNS replaces whole sets of records: what is read must hold until the write is made. */
  readonly zoneLock: ZoneLock
}

/** The kinds whose records are changed here; those of a secondary come from its primary. */
const changeableKinds: readonly string[] = ['native', 'master', 'primary', 'producer']

/**
 * The zones of a PowerDNS authoritative server, by its HTTP API. Records of a set share a TTL there; a set that holds
 * somebody else's records keeps its own. What somebody else writes into the same set at the same moment may be lost:
 * the server has no conditional write.
 */
export function powerDnsZones({ clock, zoneLock, ...address }: PowerDnsOptions): DnsProvider {
  const api = powerDnsApi(address)
  return {
    name: 'powerdns',
    async findZone(domain) {
      for (const name of zoneNames(domain, 1)) {
        const zone = await api.findZone(name)
        if (zone) return changeableKinds.includes(zone.kind.toLowerCase()) ? openZone(api, zone, zoneLock, clock) : null
      }
      return null
    },
    checkHealth: () =>
      api.checkAccess().then(
        () => null,
        (error: Error) => error.message,
      ),
  }
}

function openZone(api: PowerDnsApi, zone: PowerDnsZone, turns: ZoneLock, clock: Clock): Zone {
  const apex = canonicalName(zone.name)

  async function recordsAt(name: string): Promise<readonly ExistingRecord[]> {
    return readSets(await api.setsAt(zone, canonicalName(name))).map(set => set.record)
  }

  /** Does the work in a turn of its own, on the zone as it stands then. */
  function onSets<Result>(work: (sets: readonly RrSet[], signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return turns(apex, async signal => work(await api.sets(zone, signal), signal))
  }

  /** Writes the record into its set; `before` is the record whose place it takes, in this set or in another one. */
  async function write(
    all: readonly RrSet[],
    record: ZoneRecord,
    note: RecordNote,
    before: PlacedRecord | undefined,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    if (!isInZone(record.name, apex)) throw new DnsZoneError(`${record.name} is not in the zone ${apex}.`)
    const sets = all.filter(rrSet => canonicalName(rrSet.name) === record.name)
    const beside = readSets(sets).filter(set => set.record.id !== before?.record.id)
    const same = beside.find(placedRecord => isSameRecord(placedRecord.record, record))
    if (same) return { kind: 'exists', record: same.record }
    const others = sets.filter(set => set !== before?.set || set.records.length > 1)
    if (others.some(rrSet => rrSet.type === 'CNAME' || record.type === 'CNAME'))
      return { kind: 'conflict', existing: beside.map(placedRecord => placedRecord.record) }
    const set = sets.find(set => set.type === record.type) ?? emptySet(record)
    const stays = before?.set === set ? recordsWithout(before) : set.records
    const ttl = stays.length === 0 || (before && areOurs(set)) ? record.ttlSeconds : set.ttl
    const after = withRecords(set, [...stays, { content: contentOf(record), disabled: false }], { ttl, note })
    const left = before && before.set !== set ? [withRecords(before.set, recordsWithout(before))] : []
    const refused = await api.change(zone, [...left, after], signal)
    if (refused !== undefined) return { kind: 'conflict', existing: beside.map(placedRecord => placedRecord.record) }
    const { id, mark, created, updated } = note
    return { kind: 'written', record: { ...record, ttlSeconds: ttl, id, mark, createdAt: created, updatedAt: updated } }
  }

  return {
    apex,
    recordsAt: recordsAt,
    async recordsUnder(name) {
      const top = canonicalName(name)
      return readSets(await api.sets(zone))
        .map(set => set.record)
        .filter(existingRecord => isInZone(existingRecord.name, top))
    },
    create: (record, mark) =>
      onSets((sets, signal) => {
        const now = clock.now()
        const note = { id: newId('rec'), token: contentToken(record), mark, created: now, updated: now }
        return write(sets, record, note, undefined, signal)
      }),
    update: (id, record, mark) =>
      onSets(async (sets, signal) => {
        const before = readSets(sets).find(set => set.record.id === id)
        if (!before) return undefined
        const created = before.record.createdAt
        return write(
          sets,
          record,
          { id, token: contentToken(record), mark, created, updated: clock.now() },
          before,
          signal,
        )
      }),
    remove: id =>
      onSets(async (sets, signal) => {
        const before = readSets(sets).find(set => set.record.id === id)
        if (!before) return
        const refused = await api.change(zone, [withRecords(before.set, recordsWithout(before))], signal)
        if (refused !== undefined) throw new DnsZoneError(`PowerDNS did not delete the record: ${refused}`)
      }),
  }
}

function emptySet({ name, type, ttlSeconds }: ZoneRecord): RrSet {
  return { name: `${name}.`, type, ttl: ttlSeconds, records: [], comments: [] }
}

function recordsWithout({ set, index }: PlacedRecord): RrSet['records'] {
  return set.records.filter((_, i) => i !== index)
}

/** Did we write all of the set's records? */
function areOurs(set: RrSet): boolean {
  const placed = readSets([set])
  return placed.length === set.records.length && placed.every(placedRecord => placedRecord.note)
}
