import type { Clock, Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { RetentionKind } from '../policies/kinds.ts'

/** An item of a target: something that is deleted after its retention time. */
export interface RetainedItem {
  /** Its position in the order of the scan, which is roughly that of {@link RetainedItem.enteredAt}. */
  readonly position: string
  readonly id: string
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'> | null
  /** When it was stored, or came into the folder. */
  readonly enteredAt: Instant
  /** The start of its retention time: then, or later. */
  readonly retainedFrom: Instant
  /** What deleting it frees, roughly. */
  readonly bytes: number
  /** There is nothing to delete, or no longer. */
  readonly isCleared: boolean
  /** It must not be deleted yet, such as an email that is still to be sent. */
  readonly isInUse: boolean
}

/** What scanning and clearing a target depends on. */
export interface RetentionTargetDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly log: Log
}

/** What retention deletes: one kind of stored items, which are scanned from the oldest on. */
export interface RetentionTarget {
  readonly kind: RetentionKind
  /** The kind, or `<kind>.<part>` where a kind has several targets. Stored with the cursors. */
  readonly name: string
  /** The items after a position, at most `limit`; those that entered at `before` or later may be left out. */
  selectAfter(db: Db, after: string, before: Instant, limit: number): Promise<readonly RetainedItem[]>
  /** The items with these ids that still exist. */
  selectByIds(db: Db, ids: readonly string[]): Promise<readonly RetainedItem[]>
  /** Deletes the items; gives the ids of those that are in use, which is checked again while the rows are locked. */
  clear(deps: RetentionTargetDeps, items: readonly RetainedItem[]): Promise<readonly string[]>
  /** How many are deleted at a time. */
  readonly batchSize: number
}
