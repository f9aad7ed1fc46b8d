/** A record as it is published. Names are fully qualified, without a final dot. */
export interface ZoneRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT'
  readonly name: string
  readonly value: string
  readonly priority: number | null
  readonly ttlSeconds: number
}

/** A zone at a DNS provider that we may change. */
export interface DnsZone {
  readonly name: string
  /** The zone that holds `domain`; null when we have no access to one. */
  zoneOf(domain: string): Promise<string | null>
  /** The records of this name and type. */
  list(name: string, type: ZoneRecord['type']): Promise<readonly ZoneRecord[]>
  /** Adds a record unless the very same one is there. */
  add(record: ZoneRecord): Promise<void>
}
