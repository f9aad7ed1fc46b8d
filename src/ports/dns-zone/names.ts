import type { ZoneRecord } from './port.ts'

/** No zone that is looked for has more labels: a name of a hundred must not cost a hundred questions. */
const maxZoneLabels = 8

/** A name in the form of {@link ZoneRecord}. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** The names that a zone which holds `name` may have, the nearest first; none of fewer labels than `leastLabels`. */
export function zoneNames(name: string, leastLabels: number): readonly string[] {
  const labels = canonicalName(name).split('.')
  const ends = labels.map((_, i) => labels.slice(i))
  return ends.filter(end => end.length >= leastLabels && end.length <= maxZoneLabels).map(end => end.join('.'))
}

/** Is `name` the zone's apex, or below it? */
export function isInZone(name: string, apex: string): boolean {
  return name === apex || name.endsWith(`.${apex}`)
}

/** Is it the very same record, but for its TTL? */
export function isSameRecord(one: ZoneRecord, other: ZoneRecord): boolean {
  return (
    one.type === other.type && one.name === other.name && one.value === other.value && one.priority === other.priority
  )
}

/** An address in the form of RFC 5952; whatever is none, as it is. */
export function canonicalIpv6(address: string): string {
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address
}
