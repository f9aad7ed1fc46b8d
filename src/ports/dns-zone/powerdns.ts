import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { canonicalName, isInZone, isSameRecord, zoneNames } from './names.ts'
import { type DnsZone, type HeldRecord, type Written, type Zone, type ZoneRecord, ZoneTrouble } from './port.ts'
import { type PowerDnsAddress, type PowerDnsApi, type PowerDnsZone, powerDnsApi, type RrSet } from './powerdns-api.ts'
import { contentOf, type PlacedRecord, type RecordNote, readSets, setWith, tokenOf } from './powerdns-records.ts'
import type { ZoneTurns } from './zone-lock.ts'

export interface PowerDnsOptions extends PowerDnsAddress {
  readonly clock: Clock
  /** PowerDNS replaces whole sets of records: what is read must hold until the write is made. */
  readonly turns: ZoneTurns
}

/** The kinds whose records are changed here; those of a secondary come from its primary. */
const changeableKinds: readonly string[] = ['native', 'master', 'primary', 'producer']

/**
 * The zones of a PowerDNS authoritative server, by its HTTP API. Records of a set share a TTL there; a set that holds
 * somebody else's records keeps its own. What somebody else writes into the same set at the same moment may be lost:
 * the server has no conditional write.
 */
export function powerDnsZones({ clock, turns, ...address }: PowerDnsOptions): DnsZone {
  const api = powerDnsApi(address)
  return {
    name: 'powerdns',
    async zoneOf(domain) {
      for (const name of zoneNames(domain, 1)) {
        const zone = await api.zone(name)
        if (zone) return changeableKinds.includes(zone.kind.toLowerCase()) ? openZone(api, zone, turns, clock) : null
      }
      return null
    },
    trouble: () =>
      api.greet().then(
        () => null,
        (error: Error) => error.message,
      ),
  }
}

function openZone(api: PowerDnsApi, zone: PowerDnsZone, turns: ZoneTurns, clock: Clock): Zone {
  const apex = canonicalName(zone.name)

  async function recordsAt(name: string): Promise<readonly HeldRecord[]> {
    return readSets(await api.setsAt(zone, canonicalName(name))).map(each => each.record)
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
  ): Promise<Written> {
    if (!isInZone(record.name, apex)) throw new ZoneTrouble(`${record.name} is not in the zone ${apex}.`)
    const sets = all.filter(each => canonicalName(each.name) === record.name)
    const beside = readSets(sets).filter(each => each.record.id !== before?.record.id)
    const same = beside.find(each => isSameRecord(each.record, record))
    if (same) return { kind: 'exists', record: same.record }
    const others = sets.filter(each => each !== before?.set || each.records.length > 1)
    if (others.some(each => each.type === 'CNAME' || record.type === 'CNAME'))
      return { kind: 'conflict', existing: beside.map(each => each.record) }
    const set = sets.find(each => each.type === record.type) ?? emptySet(record)
    const stays = before?.set === set ? recordsWithout(before) : set.records
    const ttl = stays.length === 0 || (before && areOurs(set)) ? record.ttlSeconds : set.ttl
    const after = setWith(set, [...stays, { content: contentOf(record), disabled: false }], { ttl, note })
    const left = before && before.set !== set ? [setWith(before.set, recordsWithout(before))] : []
    const refused = await api.change(zone, [...left, after], signal)
    if (refused !== undefined) return { kind: 'conflict', existing: beside.map(each => each.record) }
    const { id, mark, created, updated } = note
    return { kind: 'written', record: { ...record, ttlSeconds: ttl, id, mark, createdAt: created, updatedAt: updated } }
  }

  return {
    apex,
    at: recordsAt,
    async under(name) {
      const top = canonicalName(name)
      return readSets(await api.sets(zone))
        .map(each => each.record)
        .filter(each => isInZone(each.name, top))
    },
    create: (record, mark) =>
      onSets((sets, signal) => {
        const now = clock.now()
        const note = { id: newId('rec'), token: tokenOf(record), mark, created: now, updated: now }
        return write(sets, record, note, undefined, signal)
      }),
    update: (id, record, mark) =>
      onSets(async (sets, signal) => {
        const before = readSets(sets).find(each => each.record.id === id)
        if (!before) return undefined
        const created = before.record.createdAt
        return write(sets, record, { id, token: tokenOf(record), mark, created, updated: clock.now() }, before, signal)
      }),
    remove: id =>
      onSets(async (sets, signal) => {
        const before = readSets(sets).find(each => each.record.id === id)
        if (!before) return
        const refused = await api.change(zone, [setWith(before.set, recordsWithout(before))], signal)
        if (refused !== undefined) throw new ZoneTrouble(`PowerDNS did not delete the record: ${refused}`)
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
  return placed.length === set.records.length && placed.every(each => each.note)
}
