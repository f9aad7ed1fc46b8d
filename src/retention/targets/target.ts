import type { Clock, Instant } from '../../base/clock.ts'
import type { Db } from '../../base/database/database.ts'
import type { Id } from '../../base/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import type { BlobStore } from '../../ports/blobs/port.ts'
import type { RetentionKind } from '../policies/kinds.ts'

/** Something that is kept for a time. */
export interface RetainedItem {
  /** Its place on the shelf; what was put there later has a later one. */
  readonly position: string
  readonly id: string
  readonly organizationId: Id<'org'>
  readonly brandId: Id<'brd'> | null
  /** When it was put there. */
  readonly enteredAt: Instant
  /** From when its time counts: then, or later. */
  readonly retainedFrom: Instant
  /** What its going frees, about. */
  readonly bytes: number
  /** There is nothing to clear, or no more. */
  readonly isCleared: boolean
  /** It must not go yet, such as an email that was not sent. */
  readonly isInUse: boolean
}

export interface RetentionTargetDeps {
  readonly db: Db
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly log: Log
}

/** All of one kind that is stored, oldest first. */
export interface RetentionTarget {
  readonly kind: RetentionKind
  /** The kind, or `<kind>.<part>` where a kind has several shelves. */
  readonly name: string
  /** At most `most` after a place; no more need be given of what was put there at `before` or later. */
  selectAfter(db: Db, after: string, before: Instant, most: number): Promise<readonly RetainedItem[]>
  /** Those of these ids that are still there. */
  selectByIds(db: Db, ids: readonly string[]): Promise<readonly RetainedItem[]>
  /** Clears what may go, and gives the ids of what may not go yet: that is looked at again as the rows are locked. */
  clear(deps: RetentionTargetDeps, items: readonly RetainedItem[]): Promise<readonly string[]>
  /** How many are cleared at a time. */
  readonly batchSize: number
}
