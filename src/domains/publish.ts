import type { DnsZone } from '../ports/dns-zone/port.ts'
import { type PublishedRecord, toZoneRecord } from './records.ts'
import { judgeValues } from './verification.ts'

/** What became of each record. */
export interface Publication {
  readonly published: readonly PublishedRecord[]
  /** It was there already. */
  readonly unchanged: readonly PublishedRecord[]
  /** Somebody else's record stands there; it is never overwritten. */
  readonly conflicts: readonly { readonly record: PublishedRecord; readonly existing: readonly string[] }[]
}

/**
 * Publishes the records that are not there yet; running it again changes nothing. An MX record is left out: it moves
 * the domain's mail, so a person publishes it.
 * @throws whatever the zone throws; what was published before that stays.
 */
export async function publish(zone: DnsZone, records: readonly PublishedRecord[]): Promise<Publication> {
  const published: PublishedRecord[] = []
  const unchanged: PublishedRecord[] = []
  const conflicts: { record: PublishedRecord; existing: readonly string[] }[] = []
  for (const record of records.filter(each => each.purpose !== 'mx')) {
    const there = await zone.list(record.name, record.type)
    const { status, found } = judgeValues(
      record,
      there.map(each => each.value),
    )
    if (status === 'verified') unchanged.push(record)
    else if (status === 'mismatch') conflicts.push({ record, existing: found })
    else {
      await zone.add(toZoneRecord(record))
      published.push(record)
    }
  }
  return { published, unchanged, conflicts }
}
