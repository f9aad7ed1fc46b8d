import { type Refusal, refuse } from '../../../base/refusal.ts'
import type { ExistingRecord, WriteResult, ZoneRecord } from '../../../ports/dns-zone/port.ts'
import { describeConflict, type ZoneAccess } from '../zone-access.ts'

/** The refusals of {@link requireRoom}. */
export const recordConflictRefusals = ['dns_record_conflict'] as const

/**
 * What the zone itself may not know to refuse. RFC 1912 §2.4: no CNAME at the zone's top; RFC 7505 §3: no server stands
 * beside the word that there is none.
 * @throws Refusal `dns_record_conflict`.
 */
export async function requireRoom({ zone }: ZoneAccess, record: ZoneRecord, except?: string): Promise<void> {
  if (record.type === 'CNAME' && record.name === zone.apex)
    throw conflict(record, `${record.name} is the top of its zone, where no CNAME may stand.`)
  if (record.type !== 'MX') return
  const others = (await zone.recordsAt(record.name)).filter(
    existingRecord =>
      existingRecord.type === 'MX' &&
      existingRecord.id !== except &&
      !isEqual({ ...existingRecord, ttlSeconds: record.ttlSeconds }, record),
  )
  const without = record.value === '.' ? others[0] : others.find(existingRecord => existingRecord.value === '.')
  if (without) throw conflict(record, `The MX record "." must stand alone, and ${record.name} has another.`)
}

/** The record as it was written. @throws Refusal `dns_record_conflict` unless what stands there `isOurs`. */
export function takeWritten(
  record: ZoneRecord,
  written: WriteResult,
  isOurs: (held: ExistingRecord) => boolean,
): ExistingRecord {
  switch (written.kind) {
    case 'written':
      return written.record
    case 'exists':
      if (isOurs(written.record)) return written.record
      throw conflict(record, `The very same ${record.type} record ${record.name} is there already.`)
    case 'conflict':
      throw conflict(record, describeConflict(record))
    default:
      return written satisfies never
  }
}

function conflict(record: ZoneRecord, message: string): Refusal {
  return refuse('dns_record_conflict', { message, param: record.type === 'CNAME' ? 'type' : 'name' })
}

export function isEqual(one: ZoneRecord, other: ZoneRecord): boolean {
  return (
    one.type === other.type &&
    one.name === other.name &&
    one.value === other.value &&
    one.priority === other.priority &&
    one.ttlSeconds === other.ttlSeconds
  )
}
