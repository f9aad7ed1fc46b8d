import type { Clock } from '../../../base/clock.ts'
import { newId } from '../../../base/ids.ts'
import { canonicalName } from '../../resolver/names.ts'
import { isInZone, isSameRecord, zoneNames } from '../names.ts'
import {
  type DnsProvider,
  DnsZoneError,
  type ExistingRecord,
  type UpdateResult,
  type WriteResult,
  type Zone,
  type ZoneRecord,
} from '../port.ts'
import { type PowerDnsAddress, type PowerDnsApi, type PowerDnsZone, powerDnsApi, type RrSet } from './api.ts'
import { contentOf, contentToken, type PlacedRecord, type RecordNote, readSets, withRecords } from './rrsets.ts'
import type { ZoneLock } from './zone-lock.ts'

export interface PowerDnsOptions extends PowerDnsAddress {
  readonly clock: Clock
  /** A write replaces a whole set of records, so the zone is locked from the read to the write. */
  readonly zoneLock: ZoneLock
}

/** Kinds of zones whose records are changed on this server; those of a secondary come from its primary. */
const writableKinds: readonly string[] = ['native', 'master', 'primary', 'producer']

/**
 * The zones of a PowerDNS authoritative server, by its HTTP API. The records of a set share one TTL there; a set that holds
 * other people's records keeps its TTL. What another program writes to the same set at the same moment may be lost, since
 * the API has no conditional write.
 */
export function powerDnsZones({ clock, zoneLock, ...address }: PowerDnsOptions): DnsProvider {
  const api = powerDnsApi(address)
  return {
    name: 'powerdns',
    async findZone(domain) {
      for (const name of zoneNames(domain, 1)) {
        const zone = await api.findZone(name)
        if (zone) return writableKinds.includes(zone.kind.toLowerCase()) ? openZone(api, zone, zoneLock, clock) : null
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
    return readSets(await api.setsAt(zone, canonicalName(name))).map(placed => placed.record)
  }

  /** Runs `work` on the current sets of the zone, while the zone is locked. */
  function withSets<Result>(work: (sets: readonly RrSet[], signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return turns(apex, async signal => work(await api.sets(zone, signal), signal))
  }

  /** Writes a record into its set. `before`: the record that it replaces, in this set or another one. */
  async function write(
    all: readonly RrSet[],
    record: ZoneRecord,
    note: RecordNote,
    before: PlacedRecord | undefined,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    if (!isInZone(record.name, apex)) throw new DnsZoneError(`${record.name} is not in the zone ${apex}.`)
    const sets = all.filter(set => canonicalName(set.name) === record.name)
    const existing = readSets(sets)
      .map(placed => placed.record)
      .filter(({ id }) => id !== before?.record.id)
    const same = existing.find(other => isSameRecord(other, record))
    if (same) return { kind: 'exists', record: same }
    const others = sets.filter(set => set !== before?.set || set.records.length > 1)
    if (others.some(set => set.type === 'CNAME' || record.type === 'CNAME')) return { kind: 'conflict', existing }
    const set = sets.find(({ type }) => type === record.type) ?? emptySet(record)
    const remaining = before?.set === set ? recordsWithout(before) : set.records
    const ttl = remaining.length === 0 || (before && isOurs(set)) ? record.ttlSeconds : set.ttl
    const written = withRecords(set, [...remaining, { content: contentOf(record), disabled: false }], { ttl, note })
    const vacated = before && before.set !== set ? [withRecords(before.set, recordsWithout(before))] : []
    const conflict = await api.change(zone, [...vacated, written], signal)
    if (conflict !== undefined) return { kind: 'conflict', existing }
    const { id, mark, created, updated } = note
    return { kind: 'written', record: { ...record, ttlSeconds: ttl, id, mark, createdAt: created, updatedAt: updated } }
  }

  return {
    apex,
    recordsAt: recordsAt,
    async recordsUnder(name) {
      const top = canonicalName(name)
      return readSets(await api.sets(zone))
        .map(placed => placed.record)
        .filter(record => isInZone(record.name, top))
    },
    create: (record, mark) =>
      withSets((sets, signal) => {
        const now = clock.now()
        const note = { id: newId('rec'), token: contentToken(record), mark, created: now, updated: now }
        return write(sets, record, note, undefined, signal)
      }),
    update: (id, record, mark, readAs) =>
      withSets(async (sets, signal): Promise<UpdateResult | undefined> => {
        const before = readSets(sets).find(placed => placed.record.id === id)
        if (!before) return undefined
        if (readAs !== undefined && before.record.updatedAt !== readAs)
          return { kind: 'changed', record: before.record }
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
      withSets(async (sets, signal) => {
        const before = readSets(sets).find(placed => placed.record.id === id)
        if (!before) return
        const conflict = await api.change(zone, [withRecords(before.set, recordsWithout(before))], signal)
        if (conflict !== undefined) throw new DnsZoneError(`PowerDNS did not delete the record: ${conflict}`)
      }),
  }
}

function emptySet({ name, type, ttlSeconds }: ZoneRecord): RrSet {
  return { name: `${name}.`, type, ttl: ttlSeconds, records: [], comments: [] }
}

function recordsWithout({ set, index }: PlacedRecord): RrSet['records'] {
  return set.records.filter((_, i) => i !== index)
}

/** Did Mailroom write all of the set's records? */
function isOurs(set: RrSet): boolean {
  const placed = readSets([set])
  return placed.length === set.records.length && placed.every(({ note }) => note)
}
