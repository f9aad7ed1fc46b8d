import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { MessageSource } from '../../mail/message-source.ts'

/** Bytes that are kept once for an organization, however often they come. */
export interface StoredBlob {
  readonly id: Id<'blb'>
  readonly sha256: Buffer
  readonly size: number
}

/** Keeps bytes by their content. What `store` gave is durable; it may be referred to from a later transaction. */
export interface BlobStore {
  /** Stores the bytes, streamed in chunks of 512 KiB, unless the organization has them already. */
  store(organizationId: Id<'org'>, content: MessageSource): Promise<StoredBlob>
  /**
   * As `store`, within the caller's transaction, so that one commit stands for the bytes and for what refers to them.
   * For small messages only: at most 512 KiB each, a few MiB in all. In the order given.
   */
  storeWithin(
    db: Db,
    all: readonly { readonly organizationId: Id<'org'>; readonly bytes: Buffer }[],
  ): Promise<readonly StoredBlob[]>
  /** The bytes from `start` (0-based, default 0) up to and without `end`, chunk by chunk. @throws when there is no such blob. */
  read(
    organizationId: Id<'org'>,
    id: Id<'blb'>,
    range?: { readonly start?: number; readonly end?: number },
  ): AsyncIterable<Buffer>
  /** All bytes at once: for what is known to be small, such as an email to be sent. */
  readWhole(organizationId: Id<'org'>, id: Id<'blb'>): Promise<Buffer>
}
