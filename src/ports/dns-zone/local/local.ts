import type { Clock } from '../../../base/clock.ts'
import { type Db, inTransaction } from '../../../base/database/database.ts'
import { newId } from '../../../base/ids.ts'
import { canonicalName } from '../../resolver/names.ts'
import { isSameRecord } from '../names.ts'
import type { DnsProvider, ExistingRecord, UpdateResult, WriteResult, Zone, ZoneRecord } from '../port.ts'
import {
  deleteLocalRecord,
  insertLocalRecord,
  lockLocalZone,
  selectLocalRecord,
  selectLocalRecordsAt,
  selectLocalRecordsUnder,
  updateLocalRecord,
} from './table.ts'

const apex = 'test'

/** The zone `test` (RFC 6761 §6.2) in our own database, for trying Mailroom without the internet. */
export function localZone(db: Db, clock: Clock): DnsProvider {
  const zone: Zone = {
    apex,
    recordsAt: name => selectLocalRecordsAt(db, canonicalName(name)),
    recordsUnder: name => selectLocalRecordsUnder(db, canonicalName(name)),
    create: (record, mark) =>
      withZoneLock(db, async tx => {
        const local = requireLocal(record)
        const now = clock.now()
        const created: ExistingRecord = { ...local, id: newId('rec'), mark, createdAt: now, updatedAt: now }
        const conflict = findConflict(local, await selectLocalRecordsAt(tx, local.name))
        if (conflict) return conflict
        await insertLocalRecord(tx, created, now)
        return { kind: 'written', record: created }
      }),
    update: (id, record, mark, readAs) =>
      withZoneLock(db, async tx => {
        const before = await selectLocalRecord(tx, id)
        if (!before) return undefined
        if (readAs !== undefined && before.updatedAt !== readAs) return { kind: 'changed', record: before }
        const local = requireLocal(record)
        const others = (await selectLocalRecordsAt(tx, local.name)).filter(existing => existing.id !== id)
        const conflict = findConflict(local, others)
        if (conflict) return conflict
        const updated: ExistingRecord = { ...before, ...local, mark, updatedAt: clock.now() }
        await updateLocalRecord(tx, updated)
        return { kind: 'written', record: updated }
      }),
    remove: id => deleteLocalRecord(db, id),
  }
  return {
    name: 'local',
    findZone: domain => Promise.resolve(isLocal(domain) ? zone : null),
    checkHealth: () => Promise.resolve(null),
  }
}

/** Runs `work` while no other process writes to the zone, so that what it reads holds until it writes. */
function withZoneLock<Result extends UpdateResult | undefined>(
  db: Db,
  work: (tx: Db) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async tx => {
    await lockLocalZone(tx, apex)
    return work(tx)
  })
}

/** RFC 2181 §5 and RFC 1034 §3.6.2: each record once, and a CNAME alone. */
function findConflict(record: ZoneRecord, others: readonly ExistingRecord[]): WriteResult | undefined {
  const same = others.find(existing => isSameRecord(existing, record))
  if (same) return { kind: 'exists', record: same }
  const conflicting = others.filter(existing => existing.type === 'CNAME' || record.type === 'CNAME')
  return conflicting.length > 0 ? { kind: 'conflict', existing: conflicting } : undefined
}

/** @throws when the record's name is outside the zone. */
function requireLocal(record: ZoneRecord): ZoneRecord {
  if (!isLocal(record.name)) throw new Error(`${record.name} is outside the local zone, which holds names below .test`)
  const { type, value, priority, ttlSeconds } = record
  return { type, name: canonicalName(record.name), value, priority, ttlSeconds }
}

/** Is it a name below `.test`? */
function isLocal(name: string): boolean {
  return canonicalName(name).endsWith(`.${apex}`)
}
