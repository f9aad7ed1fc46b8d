import type { Clock } from '../../base/clock.ts'
import { type Db, inTransaction } from '../../base/database/database.ts'
import { newId } from '../../base/ids.ts'
import { canonicalName, isSameRecord } from './names.ts'
import type { DnsProvider, ExistingRecord, WriteResult, Zone, ZoneRecord } from './port.ts'
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
      written(db, async tx => {
        const here = within(record)
        const at = clock.now()
        const fresh: ExistingRecord = { ...here, id: newId('rec'), mark, createdAt: at, updatedAt: at }
        const refused = refusedBeside(here, await selectLocalRecordsAt(tx, here.name))
        if (refused) return refused
        await insertLocalRecord(tx, fresh, at)
        return { kind: 'written', record: fresh }
      }),
    update: (id, record, mark) =>
      written(db, async tx => {
        const before = await selectLocalRecord(tx, id)
        if (!before) return undefined
        const here = within(record)
        const others = (await selectLocalRecordsAt(tx, here.name)).filter(existingRecord => existingRecord.id !== id)
        const refused = refusedBeside(here, others)
        if (refused) return refused
        const after: ExistingRecord = { ...before, ...here, mark, updatedAt: clock.now() }
        await updateLocalRecord(tx, after)
        return { kind: 'written', record: after }
      }),
    remove: id => deleteLocalRecord(db, id),
  }
  return {
    name: 'local',
    findZone: domain => Promise.resolve(isLocal(domain) ? zone : null),
    checkHealth: () => Promise.resolve(null),
  }
}

/** One writer at a time, so that what was read at a name holds until the write is made. */
function written<Result extends WriteResult | undefined>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> {
  return inTransaction(db, async tx => {
    await lockLocalZone(tx, apex)
    return work(tx)
  })
}

/** RFC 2181 §5 and RFC 1034 §3.6.2: each record once, and a CNAME alone. */
function refusedBeside(record: ZoneRecord, others: readonly ExistingRecord[]): WriteResult | undefined {
  const same = others.find(existingRecord => isSameRecord(existingRecord, record))
  if (same) return { kind: 'exists', record: same }
  const inTheWay = others.filter(existingRecord => existingRecord.type === 'CNAME' || record.type === 'CNAME')
  return inTheWay.length > 0 ? { kind: 'conflict', existing: inTheWay } : undefined
}

/** @throws when the record's name is outside the zone. */
function within(record: ZoneRecord): ZoneRecord {
  if (!isLocal(record.name)) throw new Error(`${record.name} is not below .test, where the local zone ends`)
  const { type, value, priority, ttlSeconds } = record
  return { type, name: canonicalName(record.name), value, priority, ttlSeconds }
}

/** Does the local zone hold this name? */
function isLocal(name: string): boolean {
  return canonicalName(name).endsWith(`.${apex}`)
}
