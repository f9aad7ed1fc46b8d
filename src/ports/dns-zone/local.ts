import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database.ts'
import { type Id, stableToken } from '../../base/ids.ts'
import type { DnsZone, ZoneRecord } from './port.ts'
import { addLocalRecord, localRecords } from './table.ts'

/** The zone `test` (RFC 6761 §6.2) in our own database, for trying Mailroom without the internet. */
export function localZone(db: Db, clock: Clock): DnsZone {
  return {
    name: 'local',
    zoneOf: domain => Promise.resolve(isLocal(domain) ? 'test' : null),
    list: async (name, type) => {
      const rows = await localRecords(db, canonical(name), type)
      return rows.map(({ value, priority, ttl }) => ({
        type,
        name: canonical(name),
        value,
        priority,
        ttlSeconds: ttl,
      }))
    },
    add: async record => {
      if (!isLocal(record.name)) throw new Error(`${record.name} is not below .test, where the local zone ends`)
      const here = { ...record, name: canonical(record.name) }
      await addLocalRecord(db, idOf(here), here, clock.now())
    },
  }
}

/** Does the local zone hold this name? */
function isLocal(name: string): boolean {
  return canonical(name).endsWith('.test')
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** The same record has the same id, so that adding it twice, or twice at once, adds it once. */
function idOf({ type, name, value, priority }: ZoneRecord): Id<'rec'> {
  return `rec_${stableToken(JSON.stringify([type, name, value, priority]))}`
}
