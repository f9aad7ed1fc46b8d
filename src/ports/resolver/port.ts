/**
 * The data of a record of each type. TXT: the strings of one record, joined without a separator (RFC 7208 §3.3), as UTF-8.
 * A, AAAA: the address as text. Names (CNAME, PTR, MX's `exchange`): lower case, without the final dot; the root is ''.
 */
export interface RecordData {
  readonly TXT: string
  readonly MX: { readonly priority: number; readonly exchange: string }
  readonly CNAME: string
  readonly A: string
  readonly AAAA: string
  readonly PTR: string
  readonly TLSA: {
    readonly usage: number
    readonly selector: number
    readonly matchingType: number
    readonly certificate: Buffer
  }
}

export type RecordType = keyof RecordData

/** What a lookup came to. `none` may be believed; `failed` says nothing about the name. */
export type DnsAnswer<Data> =
  /** At least one record. `ttlSeconds`: how long the answer may be believed from now on, at least 0. */
  | { readonly kind: 'found'; readonly records: readonly Data[]; readonly ttlSeconds: number }
  /** There is no such name (`nxdomain`), or no record of the type at it (`nodata`). */
  | { readonly kind: 'none'; readonly why: 'nxdomain' | 'nodata' }
  /** SERVFAIL, REFUSED, a timeout, a CNAME loop, too many CNAMEs. `why` is for an operator. */
  | { readonly kind: 'failed'; readonly why: string }

export interface LookupOptions {
  /**
   * For proofs of ownership: look up over TCP, twice, without the cache, and answer only when both answers have the same
   * records, in any order; else `failed`. Nothing of it is cached.
   */
  readonly forProof?: boolean
  /** Do not answer from the cache: for learning whether the servers answer now. */
  readonly bypassCache?: boolean
  /** When this fires, the answer is `failed`, at once. */
  readonly signal?: AbortSignal
}

/** How many CNAMEs are followed for one lookup. */
export const maxCnames = 8

/**
 * Looks up records in DNS.
 *
 * An adapter
 * - never throws nor rejects for what the network or a server does: that is `failed`;
 * - takes names in any case, with or without the final dot; a name that cannot exist (RFC 1035 §2.3.4) is `nxdomain`,
 *   without a query;
 * - follows CNAMEs, at most `maxCnames`, also across responses; a lookup of type CNAME gives the alias itself;
 * - believes only responses to its own query: same id, same question, same server (RFC 5452);
 * - may cache answers for their TTL and absences for the negative TTL (RFC 2308), both within bounds, and never failures;
 * - sends one query when several callers look up the same at the same time.
 */
export interface Resolver {
  resolve<Type extends RecordType>(
    name: string,
    type: Type,
    options?: LookupOptions,
  ): Promise<DnsAnswer<RecordData[Type]>>
}
