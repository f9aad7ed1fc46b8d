import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { MessageSource } from '../../mail/message-source.ts'

/** A blob: bytes that are stored once for an organization, however often they come. */
export interface StoredBlob {
  readonly id: Id<'blb'>
  readonly sha256: Buffer
  readonly size: number
}

/** A blob that was stored within a transaction. */
export interface BlobStoredWithin extends StoredBlob {
  /** False: the organization had these bytes, or a transaction that was committed meanwhile has stored them. */
  readonly isNew: boolean
}

/** Bytes to store for an organization. */
export interface SmallContent {
  readonly organizationId: Id<'org'>
  readonly bytes: Buffer
  /** Of the bytes, where the caller has computed it. */
  readonly sha256?: Buffer
}

/**
 * Stores bytes by their content: the same bytes of an organization are one blob. Organizations never share one.
 *
 * An adapter
 * - has the bytes on durable storage when `store` resolves;
 * - streams large content both ways, so that memory does not grow with its size;
 * - guarantees that what `store` returned can be referred to for a day; after that, a blob that nothing refers to may be
 *   deleted (delete-unreferenced.ts).
 */
export interface BlobStore {
  /**
   * Stores the bytes, unless the organization has them already; returns the blob in both cases.
   * @param sha256 of the bytes, where the caller has computed it
   */
  store(organizationId: Id<'org'>, content: MessageSource, sha256?: Buffer | null): Promise<StoredBlob>
  /**
   * Like `store`, but inside the caller's transaction `db`, so that one commit covers the bytes and what refers to them. For
   * small content only: at most 512 KiB each, a few MiB in all. Returns the blobs in the order given. Of two transactions that
   * store the same bytes for an organization, the second waits here until the first has ended.
   */
  storeWithin(db: Db, items: readonly SmallContent[]): Promise<readonly BlobStoredWithin[]>
  /**
   * The bytes from `start` (0-based, default 0) up to but not including `end` (default: the size), in pieces.
   * @throws when the organization has no such blob
   */
  read(
    organizationId: Id<'org'>,
    id: Id<'blb'>,
    range?: { readonly start?: number; readonly end?: number },
  ): AsyncIterable<Buffer>
  /** All bytes at once: for small blobs, such as an email to be sent. @throws when the organization has no such blob */
  readWhole(organizationId: Id<'org'>, id: Id<'blb'>): Promise<Buffer>
}
