import type { Instant } from '../../base/clock.ts'

/**
 * A record as it is published. Names are fully qualified lower-case A-labels without a final dot. What `value` holds:
 * A, AAAA: the address (RFC 5952 for IPv6); CNAME: the name it leads to; MX: the exchange, with `priority` beside it; TXT:
 * the text in one piece, unquoted, however it is cut into strings of 255 octets (RFC 7208 §3.3).
 */
export interface ZoneRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT'
  readonly name: string
  readonly value: string
  /** Of MX only, else null. */
  readonly priority: number | null
  readonly ttlSeconds: number
}

/** A record that stands in a zone, whoever put it there. */
export interface ExistingRecord extends ZoneRecord {
  /** One record's in its zone, and the same for as long as the record stands, whatever it is changed to. */
  readonly id: string
  /** What was handed in when Mailroom wrote the record; null: somebody else made it. */
  readonly mark: string | null
  /** null: the provider does not say. */
  readonly createdAt: Instant | null
  readonly updatedAt: Instant | null
}

/**
 * What became of a write. `exists`: the very same record (type, name, value, priority) stands there already, under another
 * id, and nothing was changed (a set of records holds each once, RFC 2181 §5). `conflict`: the zone does not take the record
 * beside what stands at its name, such as a CNAME (RFC 1034 §3.6.2); `existing` may be empty where that is of a type that
 * we do not know.
 */
export type WriteResult =
  | { readonly kind: 'written'; readonly record: ExistingRecord }
  | { readonly kind: 'exists'; readonly record: ExistingRecord }
  | { readonly kind: 'conflict'; readonly existing: readonly ExistingRecord[] }

/**
 * One zone that we may change. Records of other types than those of {@link ZoneRecord} are never shown nor touched. The
 * provider's own way with the TTLs of one name and type holds (RFC 2181 §5.2 wants them equal). A read shows what was
 * written before it. Anything that cannot be done now, for whatever reason, is thrown; a write whose answer was lost may
 * be made again.
 */
export interface Zone {
  /** The name at its top. */
  readonly apex: string
  /** The records of exactly this name, oldest first. */
  recordsAt(name: string): Promise<readonly ExistingRecord[]>
  /** The records of this name and of every name below it, in any order. */
  recordsUnder(name: string): Promise<readonly ExistingRecord[]>
  /**
   * Publishes a record. Of two that write the same one at once, one gets `exists`.
   * @param mark kept beside the record and given back with it, never in DNS: ASCII, at most 80 characters
   */
  create(record: ZoneRecord, mark: string | null): Promise<WriteResult>
  /** Changes the record with this id to `record` and `mark`, in one step. Undefined: it is not there. */
  update(id: string, record: ZoneRecord, mark: string | null): Promise<WriteResult | undefined>
  /** Takes the record away; one that is not there is no trouble. */
  remove(id: string): Promise<void>
}

/** What we may change at a DNS provider. */
export interface DnsProvider {
  /** The provider's name. */
  readonly name: string
  /** The zone that holds `domain`, the nearest one; null when we have no access to it. */
  findZone(domain: string): Promise<Zone | null>
  /** Can it be asked now, with the credentials that we have? null: yes; else why not. */
  checkHealth(): Promise<string | null>
}

/**
 * What a provider did not do, in a sentence that anyone may read: it holds neither credentials nor addresses of the
 * operator's. Whatever else an adapter throws is for the log alone.
 */
export class DnsZoneError extends Error {
  override readonly name = 'DnsZoneError'
  /** When to come back, where the provider says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, retryAfterSeconds?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterSeconds = retryAfterSeconds
  }
}
