// Types of internal modules of mailauth 7.1.0, which has none for them.

declare module 'mailauth/lib/tools.js' {
  import type { KeyObject } from 'node:crypto'

  export interface HeaderField {
    /** Lower case; null for a line without a name. */
    readonly key: string | null
    readonly casedKey?: string
    readonly line: Buffer
  }
  export interface ParsedHeaders {
    readonly parsed: readonly HeaderField[]
    readonly original: Buffer
  }
  export function parseHeaders(header: Buffer): ParsedHeaders
  /** Relaxed alignment by the Public Suffix List: the domain that aligns, or false. */
  export function getAlignment(fromDomain: string, domains: readonly string[]): { readonly domain: string } | false
  /** Lower case, A-labels, no final dot. */
  export function formatDomain(domain: string): string
  export function toALabel(domain: string): string

  type Resolve = (name: string, type: string) => Promise<never[] | string[][] | object[]>
  export interface KeyOptions {
    readonly strict?: boolean
    readonly hashAlgo?: string
  }
  /** What a key record says. */
  export interface PublicKey {
    /** PEM, or the key itself: it is only given to `crypto.verify`. */
    readonly publicKey: string | KeyObject
    readonly keyType: string
    readonly modulusLength?: number
  }
  export interface KeyCache {
    readonly resolver: Resolve
    get(type: string, name: string, minBitLength: number | undefined, options: KeyOptions): Promise<PublicKey>
  }
  export function createKeyCache(
    resolver: Resolve,
  ): KeyCache & { get(...question: Parameters<KeyCache['get']>): Promise<PublicKey & { readonly publicKey: string }> }
}

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { KeyCache, ParsedHeaders } from 'mailauth/lib/tools.js'

  export interface SignatureResult {
    readonly signingDomain?: string
    readonly selector?: string
    readonly algo?: string
    readonly status: {
      readonly result: string
      readonly comment?: string
      /** Bytes of the body that l= leaves unsigned. */
      readonly underSized?: number
      readonly policy?: Readonly<Record<string, string>>
    }
  }
  /** A signature field that was read. */
  export interface SignatureHeader {
    readonly signingDomain: string
    readonly selector: string
    readonly parsed?: { readonly a?: { readonly value: string } }
  }
  export interface ArcState {
    readonly chain: readonly unknown[] | false
    /** The keys of the seals are looked up in it. */
    keyCache: KeyCache
    readonly error?: Error
    readonly lastEntry?: {
      readonly 'arc-seal'?: { readonly parsed?: { readonly d?: { readonly value?: unknown } } }
      readonly messageSignature?: SignatureResult
    }
  }
  type Resolve = (name: string, type: string) => Promise<never[] | string[][] | object[]>
  export class DkimVerifier {
    constructor(options: { readonly resolver: Resolve; readonly strict: boolean; readonly sender?: string })
    keyCache: KeyCache
    headers: ParsedHeaders
    headerFrom: readonly string[]
    readonly fromFields: number
    readonly results: readonly SignatureResult[]
    readonly arc: ArcState
    /** One for each canonicalization, algorithm and `l=`, once the header is read. */
    readonly bodyHashes: ReadonlyMap<string, unknown>
    /** Adds the hash to `bodyHashes`, once; gives its key. */
    addBodyHash(bodyCanon: string, hashAlgo: string, maxBodyLength: number | ''): string
    /** For the Authentication-Results field: `header.d` and others. */
    getStatusHeader(signature: SignatureHeader): object
    /** What a result says of its signature beside the verdict. */
    baseResult(signature: SignatureHeader, format?: string): object
    messageHeaders(headers: ParsedHeaders): Promise<void>
    nextChunk(chunk: Buffer): Promise<void>
    finalChunk(): Promise<void>
  }
}

declare module 'mailauth/lib/dkim/body/relaxed.js' {
  export class RelaxedHash {
    constructor(algorithm: string, maxBodyLength?: number)
    /** The beginning of a line of which the rest is still to come. */
    remainder: Buffer | false
    /** Of the body as it came. */
    byteLength: number
    readonly canonicalizedLength: number
    readonly bodyHashedBytes: number
    update(chunk: Buffer | null, isFinal?: boolean): void
    /** Hashes whole lines in their canonical form. */
    _pushBodyHash(lines: Buffer): void
    digest(encoding: 'base64'): string
  }
}

declare module 'mailauth/lib/spf/index.js' {
  type Resolve = (name: string, type: string) => Promise<never[] | string[][] | object[]>
  export function spf(options: {
    readonly sender: string
    readonly ip: string
    readonly helo: string
    readonly mta: string
    readonly resolver: Resolve
    readonly strict: boolean
    readonly maxVoidCount: number
  }): Promise<{
    readonly domain: string
    readonly status: { readonly result: string; readonly comment?: string }
    readonly explanation?: string
  }>
}

declare module 'mailauth/lib/dmarc/index.js' {
  type Resolve = (name: string, type: string) => Promise<never[] | string[][] | object[]>
  export interface DmarcResponse {
    readonly status: { readonly result: string; readonly comment?: string; readonly header: { readonly from: string } }
    readonly policy?: string
    readonly policyDomain?: string
    readonly error?: string
    readonly alignment?: {
      readonly spf: { readonly result?: string; readonly strict: boolean }
      readonly dkim: { readonly result?: string; readonly strict: boolean }
    }
  }
  export function evaluateDmarc(options: {
    readonly headerFrom: readonly string[]
    readonly fromFields: number
    readonly spfDomains: readonly string[]
    readonly dkimDomains: readonly string[]
    readonly resolver: Resolve
    readonly strict: boolean
  }): Promise<{
    readonly response: DmarcResponse | false
    readonly reason?: string
    readonly dkimAligned?: ReadonlySet<string>
  }>
}

declare module 'mailauth/lib/arc/index.js' {
  import type { ArcState } from 'mailauth/lib/dkim/dkim-verifier.js'

  type Resolve = (name: string, type: string) => Promise<never[] | string[][] | object[]>
  export function arc(
    state: ArcState,
    options: { readonly resolver: Resolve; readonly strict: boolean },
  ): Promise<{ readonly status: { readonly result: string; readonly comment?: string } }>
}
