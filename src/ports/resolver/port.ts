/** What a record of each type holds. TXT: the strings of one record, joined (RFC 7208 §3.3). Names: lower case, no final dot. */
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

/**
 * What DNS says. `none` is its word that there is nothing (`nxdomain`: no such name; `nodata`: no such record there) and
 * may be believed; `failed` says nothing about the name (SERVFAIL, REFUSED, time-out, a chain that loops or is too long).
 */
export type DnsAnswer<Data> =
  | { readonly kind: 'found'; readonly records: readonly Data[]; readonly ttlSeconds: number }
  | { readonly kind: 'none'; readonly why: 'nxdomain' | 'nodata' }
  | { readonly kind: 'failed'; readonly why: string }

export interface LookupOptions {
  /** Ask over TCP, twice, past every cache, and only believe the same answer: for proofs of ownership. */
  readonly forProof?: boolean
  /** Ask now, past what is kept: for learning whether anyone answers. */
  readonly bypassCache?: boolean
  /** Give up (`failed`) when this fires. */
  readonly signal?: AbortSignal
}

/**
 * Answers questions about names. Never throws for what the network or a server does. CNAMEs are followed (at most 8),
 * answers are kept for their TTL and absences for the SOA's minimum, each within bounds; a failure is never kept.
 */
export interface Resolver {
  resolve<Type extends RecordType>(
    name: string,
    type: Type,
    question?: LookupOptions,
  ): Promise<DnsAnswer<RecordData[Type]>>
}
