import { type Refusal, refuse } from '../../base/refusal.ts'
import type { ExistingRecord, WriteResult, ZoneRecord } from '../../ports/dns-zone/port.ts'
import { describeConflict, type ZoneAccess } from '../dns/zone-access.ts'

/** The refusals of {@link requireNoConflict}. */
export const recordConflictRefusals = ['dns_record_conflict'] as const

/**
 * Refuses conflicts that the DNS provider may not detect: a CNAME at the zone apex (RFC 1912 §2.4), and a null MX beside
 * other MX records (RFC 7505 §3).
 * @param except the id of the record that is being replaced
 * @throws Refusal `dns_record_conflict`
 */
export async function requireNoConflict({ zone }: ZoneAccess, record: ZoneRecord, except?: string): Promise<void> {
  if (record.type === 'CNAME' && record.name === zone.apex)
    throw recordConflict(record, `${record.name} is the apex of its zone, where a CNAME record is not allowed.`)
  if (record.type !== 'MX') return
  const others = (await zone.recordsAt(record.name)).filter(
    existingRecord =>
      existingRecord.type === 'MX' &&
      existingRecord.id !== except &&
      !isEqual({ ...existingRecord, ttlSeconds: record.ttlSeconds }, record),
  )
  const conflicting = record.value === '.' ? others[0] : others.find(existingRecord => existingRecord.value === '.')
  if (conflicting)
    throw recordConflict(
      record,
      `The null MX record (".") cannot coexist with other MX records, and ${record.name} has one.`,
    )
}

/** The written record, or an identical existing one that `isOurs`. @throws Refusal `dns_record_conflict` otherwise */
export function requireWritten(
  record: ZoneRecord,
  written: WriteResult,
  isOurs: (existing: ExistingRecord) => boolean,
): ExistingRecord {
  switch (written.kind) {
    case 'written':
      return written.record
    case 'exists':
      if (isOurs(written.record)) return written.record
      throw recordConflict(record, `An identical ${record.type} record ${record.name} already exists.`)
    case 'conflict':
      throw recordConflict(record, describeConflict(record))
    default:
      return written satisfies never
  }
}

function recordConflict(record: ZoneRecord, message: string): Refusal {
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
