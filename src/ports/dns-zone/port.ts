import type { Instant } from '../../base/clock.ts'

/**
 * A record as it is published. Names are fully qualified, lower case, A-labels, without the final dot. `value` holds:
 * - A, AAAA: the address (IPv6 in the form of RFC 5952);
 * - CNAME: the target name;
 * - MX: the name of the exchange, '.' for the null MX (RFC 7505), with `priority` beside it;
 * - TXT: the whole text, without quotes, however the provider splits it into strings of 255 octets (RFC 7208 §3.3).
 */
export interface ZoneRecord {
  readonly type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT'
  readonly name: string
  readonly value: string
  /** Of MX only, else null. */
  readonly priority: number | null
  readonly ttlSeconds: number
}

/** A record that is in a zone, whoever published it. */
export interface ExistingRecord extends ZoneRecord {
  /** Unique in its zone, and unchanged for as long as the record is there, whatever it is updated to. */
  readonly id: string
  /** The mark that Mailroom gave when it wrote the record; null: somebody else wrote it. */
  readonly mark: string | null
  /** null: the provider does not say. */
  readonly createdAt: Instant | null
  readonly updatedAt: Instant | null
}

/** What became of a write. */
export type WriteResult =
  | { readonly kind: 'written'; readonly record: ExistingRecord }
  /**
   * The same record (type, name, value, priority) is already there under another id, and nothing was changed: a set of
   * records holds each once (RFC 2181 §5).
   */
  | { readonly kind: 'exists'; readonly record: ExistingRecord }
  /**
   * The record cannot stand beside what is at its name, such as a CNAME (RFC 1034 §3.6.2). `existing` is empty when those
   * are of types that {@link ZoneRecord} does not have.
   */
  | { readonly kind: 'conflict'; readonly existing: readonly ExistingRecord[] }

/** What became of an update. */
export type UpdateResult =
  | WriteResult
  /** Somebody has changed the record since it was read, to this; nothing was changed. */
  | { readonly kind: 'changed'; readonly record: ExistingRecord }

/**
 * One zone that we may change.
 *
 * An adapter
 * - neither shows nor changes records of types that {@link ZoneRecord} does not have;
 * - leaves what the provider stores beside a record (proxying, tags, other people's comments) as it is;
 * - may round TTLs to what the provider allows for one name and type (RFC 2181 §5.2), and returns what it wrote;
 * - shows in each read what was written before it;
 * - takes names in any case, with or without the final dot;
 * - throws {@link DnsZoneError} for what the provider refuses or cannot do now. Nothing is changed then, except that a
 *   write whose response was lost may have been made: the caller may repeat any write.
 */
export interface Zone {
  /** The name of the zone. */
  readonly apex: string
  /** The records of exactly this name, oldest first. */
  recordsAt(name: string): Promise<readonly ExistingRecord[]>
  /** The records of this name and of every name below it, in any order. */
  recordsUnder(name: string): Promise<readonly ExistingRecord[]>
  /**
   * Publishes a record. When two write the same record at once, one of them gets `exists`.
   * @param mark stored beside the record and returned with it, but not published in DNS: ASCII, at most 80 characters
   */
  create(record: ZoneRecord, mark: string | null): Promise<WriteResult>
  /**
   * Changes the record with this id to `record` and `mark`, in one step, under the same id. undefined: there is none.
   * @param readAs the `updatedAt` with which it was read: what has another one by now is left as it is. Between this look and
   * the write, others wait where the provider has a lock; where it has none, a change in these milliseconds is overwritten
   */
  update(
    id: string,
    record: ZoneRecord,
    mark: string | null,
    readAs?: Instant | null,
  ): Promise<UpdateResult | undefined>
  /** Deletes the record with this id. That it is not there is no error. */
  remove(id: string): Promise<void>
}

/** A DNS provider where we may change zones. */
export interface DnsProvider {
  /** The provider's name, as the configuration has it. */
  readonly name: string
  /**
   * The zone that holds `domain`: the nearest one above it, or of that very name. null when we may not change that zone,
   * also when we may change one above it. @throws DnsZoneError
   */
  findZone(domain: string): Promise<Zone | null>
  /** Can the provider be reached with our credentials now? null: yes; else the reason, for an operator. Never rejects. */
  checkHealth(): Promise<string | null>
}

/**
 * The provider refused, or could not be reached. The message is a sentence that API callers may read: it holds neither
 * credentials nor addresses of the operator's. Whatever else an adapter throws is for the log alone.
 */
export class DnsZoneError extends Error {
  override readonly name = 'DnsZoneError'
  /** When to try again, if the provider says. */
  readonly retryAfterSeconds: number | undefined

  constructor(message: string, retryAfterSeconds?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterSeconds = retryAfterSeconds
  }
}
