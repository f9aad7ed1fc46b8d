import { canonicalName } from '../resolver/names.ts'
import type { ZoneRecord } from './port.ts'

/** Zones with more labels are not looked for: a name of a hundred labels must not cost a hundred requests. */
const maxZoneLabels = 8

/** The names of the zones that could hold `name`, the nearest first; none with fewer than `minLabels` labels. */
export function zoneNames(name: string, minLabels: number): readonly string[] {
  const labels = canonicalName(name).split('.')
  const suffixes = labels.map((_, i) => labels.slice(i))
  return suffixes
    .filter(suffix => suffix.length >= minLabels && suffix.length <= maxZoneLabels)
    .map(suffix => suffix.join('.'))
}

/** Is `name` the zone's apex, or below it? */
export function isInZone(name: string, apex: string): boolean {
  return name === apex || name.endsWith(`.${apex}`)
}

/** Are they the same record, TTL aside? */
export function isSameRecord(one: ZoneRecord, other: ZoneRecord): boolean {
  return (
    one.type === other.type && one.name === other.name && one.value === other.value && one.priority === other.priority
  )
}

/** An IPv6 address in the form of RFC 5952; what is none, unchanged. */
export function canonicalIpv6(address: string): string {
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address
}
